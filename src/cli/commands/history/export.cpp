// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/history/csv_export.hpp"
#include "cli/runs/run_search.hpp"
#include "net/target.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::cli {
namespace history_export_command {

constexpr std::string_view forms[] = {"jsonl", "csv"};
constexpr Option options[] = {
    {.name = "destination",
     .brief = "d",
     .value = "FILE",
     .help = "File to create. Default: standard output.",
     .complete = Complete::file},
    {.name = "format",
     .value = "FORM",
     .help = "jsonl: everything about each run. csv: a table of runs. Default: jsonl.",
     .complete = Complete::choice,
     .choices = forms},
    {.name = "points", .help = "With CSV: write every point of every metric instead of the runs."},
    {.name = "filter", .value = "TEXT", .help = "Only runs that match, as in 'ponk history list'."},
    {.name = "experiment",
     .value = "NAME",
     .help = "Only runs of this experiment, as in 'ponk history list'."},
    {.name = "all-projects", .brief = "A", .help = "Export the runs of all projects."},
};
constexpr Positional positionals[] = {
    {.name = "RUN",
     .help = "Runs to export. Default: all runs of the project.",
     .count = Positional::Count::many,
     .complete = Complete::run},
};
constexpr Example examples[] = {
    {"ponk history export -d runs.jsonl", "Export all runs of the project with all metric points."},
    {"ponk history export --format csv -d runs.csv", "Write one line per run, for a spreadsheet."},
    {"ponk history export --format csv --points last",
     "Print every logged value of the newest run."},
};

// What the runs are, once and for all; each of them is fetched when its turn comes.
struct Choice {
    JsonArray named;
    JsonObject search;
    std::string project;
    bool whole = true;  // all there is of the project
    bool none = false;  // of a project that has no runs
};

tl::expected<Choice, Failure> choice_of(Context& context, const Invocation& words)
{
    Choice choice;
    choice.search = TRY(search_options(words));
    choice.search.set("hidden", true);
    // Lines say which were deleted, a table cannot.
    if (words.text("format") == "csv") choice.search.set("deleted", false);
    choice.search.set("order_by", JsonArray{"start_time ASC"});
    if (!words.words().empty()) {
        for (const auto* chooser : {"filter", "experiment"}) {
            if (words.has(chooser))
                return fail_usage("--{} selects runs: do not give runs as well", chooser);
        }
        choice.whole = false;
        for (const std::string& name : words.words())
            choice.named.push_back(TRY(context.run(name)));
        return choice;
    }
    choice.whole = !words.has("filter") && !words.has("experiment");
    if (!words.has("all-projects") && !words.has("experiment") && !context.spans_projects()) {
        choice.project = TRY(context.project_id());
        choice.none = choice.project.empty();
        choice.search.set("project", choice.project);
    }
    return choice;
}

// Oldest first, a page at a time.
Result<>
each_run(Daemon& daemon, const Choice& choice, const std::function<Result<>(const Json& run)>& take)
{
    for (const Json& run : choice.named)
        TRY(take(run));
    if (!choice.named.empty() || choice.none) return {};
    return each_page(daemon, choice.search, [&take](const JsonArray& runs) -> Result<bool> {
        for (const Json& run : runs)
            TRY(take(run));
        return true;
    });
}

Result<os::Fd> new_file(const std::string& name)
{
    return os::open_file(name, O_WRONLY | O_CREAT | O_EXCL, 0644)
        .map_error([&](const Error& error) {
            return error.kind() == ErrorKind::conflict
                       ? error.with_hint(
                             "Give the name of a new file: existing files are not overwritten.")
                       : error;
        });
}

// As it comes: a run can be larger than our memory.
// Where a stream goes: a terminal gets it filtered, whatever its pieces are.
class Outlet {
public:
    explicit Outlet(int fd) : fd_(fd), terminal_(::isatty(fd) == 1) {}

    Result<> write(std::string_view bytes)
    {
        if (!terminal_) return os::write_all(fd_, bytes);
        std::string shown;
        filter_.feed(bytes, shown);
        return os::write_all(fd_, shown);
    }
    Result<> finish()
    {
        std::string rest;
        filter_.finish(rest);
        return os::write_all(fd_, rest);
    }

private:
    int fd_;
    bool terminal_;
    TerminalFilter filter_{Passing::text};
};

Result<> copy_lines(Daemon& daemon, const std::string& query, int out)
{
    std::optional<Error> problem;
    Outlet outlet(out);
    const auto copy = [&](std::string_view bytes) {
        const auto written = outlet.write(bytes);
        if (!written) problem = written.error();
        return written.has_value();
    };
    const auto streamed = daemon.stream("/export" + query, copy, answer_limit);
    if (problem) return tl::unexpected(*problem);
    TRY(streamed);
    return outlet.finish();
}

Outcome export_csv(Context& context, const EachRun& runs, const Write& write, bool points)
{
    if (!points) {
        const auto report = TRY(export_runs_csv(runs, write));
        if (report.left_out > 0)
            context.note("{} values are missing: they were logged during the export, or their run "
                         "has more values than fit in the table; '--format jsonl' writes all",
                         report.left_out);
        context.note("{} run{} exported", report.runs, report.runs == 1 ? "" : "s");
        return exit_code::success;
    }
    Daemon* daemon = TRY(context.daemon());
    TRY(write(points_csv_heading()));
    // A connection of its own: the other one may be in the middle of a page.
    Daemon beside = daemon->beside();
    TRY(runs([&](const Json& run) -> Result<> {
        return export_points_csv(beside, run.text("run_id"), write);
    }));
    return exit_code::success;
}

// Whole projects come with their experiments and models, chosen runs alone.
Outcome export_lines(Context& context, const Choice& choice, int out)
{
    Daemon* daemon = TRY(context.daemon());
    if (choice.none) return exit_code::success;
    if (choice.whole) {
        TRY(copy_lines(*daemon,
                       choice.project.empty() ? ""
                                              : "?project=" + net::percent_encode(choice.project),
                       out));
        return exit_code::success;
    }
    std::size_t count = 0;
    Daemon beside = daemon->beside();
    TRY(each_run(*daemon, choice, [&](const Json& run) -> Result<> {
        ++count;
        return copy_lines(beside, "?run=" + run.text("run_id"), out);
    }));
    context.note("{} run{} exported", count, count == 1 ? "" : "s");
    return exit_code::success;
}

Outcome run(Context& context, const Invocation& words)
{
    const auto form = words.value("format").value_or("jsonl");
    if (std::ranges::count(forms, form) == 0)
        return fail_usage("--format takes jsonl or csv, not '{}'", printable(form));
    if (words.has("points") && form != "csv")
        return fail_usage("--points needs --format csv; JSON Lines always contain all points");
    const Choice choice = TRY(choice_of(context, words));
    Daemon* daemon = TRY(context.daemon());
    os::Fd file;
    int out = STDOUT_FILENO;
    if (const auto name = words.value("destination")) {
        file = TRY(new_file(*name));
        out = file.get();
    }
    if (form == "csv")
        return export_csv(
            context,
            [&](const auto& take) { return each_run(*daemon, choice, take); },
            [out](std::string_view text) { return write_out(out, text, Passing::text); },
            words.has("points"));
    return export_lines(context, choice, out);
}

}  // namespace history_export_command

constinit const Command cmd_history_export = {
    .path = "history export",
    .summary = "Write runs with all their metric points as JSON Lines or CSV",
    .description =
        "JSON Lines: one line per run, oldest first: {\"run\": record, \"experiment\": …, "
        "\"metrics\": {name: {latest, count, points: [[step, time in ms, value], …]}}, \"inputs\": "
        "…, \"events\": [{seq, time, kind, text}, …]}. Unless runs are selected, lines "
        "{\"experiment\": …} come first and {\"logged_model\": …} last; with --all-projects also "
        "{\"registered_model\": …}. 'ponk history import' reads all of them.\nCSV: a header line, "
        "then one line per run: the fields of its record, params.NAME, tags.NAME and metrics.NAME "
        "with the latest value; with --points one line per point: run_id, key, step, time in ms "
        "since 1970, value. Values are quoted as in RFC 4180; lines end with a newline. A text "
        "that a spreadsheet would read as a formula (it starts with = + - @ and is not a number) "
        "gets a leading apostrophe.",
    .options = history_export_command::options,
    .positionals = history_export_command::positionals,
    .examples = history_export_command::examples,
    .history = Command::History::any,
    .run = history_export_command::run,
};

}  // namespace ponk::cli
