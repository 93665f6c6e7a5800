// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/history/csv_export.hpp"
#include "cli/commands/history/report_document.hpp"
#include "cli/commands/history/report_export.hpp"
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
    {.name = "html",
     .value = "FILE",
     .help = "Write a report instead: one HTML file with the runs and their charts, which any "
             "browser shows without a network. At most 100 runs.",
     .complete = Complete::file},
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
    {"ponk history export --html report.html 1 2 3",
     "Write a report of three runs, to send to somebody."},
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
    if (words.text("format") == "csv" || words.has("html")) choice.search.set("deleted", false);
    // A report has the newest where it cannot have all.
    choice.search.set("order_by",
                      JsonArray{words.has("html") ? "start_time DESC" : "start_time ASC"});
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

// Counts the lines that are runs as they pass.
class RunLines {
public:
    void feed(std::string_view bytes)
    {
        constexpr std::string_view begin = "{\"run\":";
        for (const char c : bytes) {
            if (c == '\n') {
                matched_ = 0;
            } else if (matched_ < begin.size()) {
                matched_ = c == begin[matched_] ? matched_ + 1 : begin.size() + 1;
                if (matched_ == begin.size()) ++count_;
            }
        }
    }
    [[nodiscard]] std::size_t count() const { return count_; }

private:
    std::size_t matched_ = 0;
    std::size_t count_ = 0;
};

// How many runs there were.
Result<std::size_t> copy_lines(Daemon& daemon, const std::string& query, int out)
{
    std::optional<Error> problem;
    Outlet outlet(out);
    RunLines lines;
    const auto copy = [&](std::string_view bytes) {
        lines.feed(bytes);
        const auto written = outlet.write(bytes);
        if (!written) problem = written.error();
        return written.has_value();
    };
    const auto streamed = daemon.stream("/export" + query, copy, answer_limit);
    if (problem) return tl::unexpected(*problem);
    TRY(streamed);
    TRY(outlet.finish());
    return lines.count();
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
    std::size_t count = 0;
    if (choice.whole) {
        const auto query =
            choice.project.empty() ? "" : "?project=" + net::percent_encode(choice.project);
        count = TRY(copy_lines(*daemon, query, out));
    } else {
        Daemon beside = daemon->beside();
        TRY(each_run(*daemon, choice, [&](const Json& run) -> Result<> {
            count += TRY(copy_lines(beside, "?run=" + run.text("run_id"), out));
            return {};
        }));
    }
    context.note("{} run{} exported", count, count == 1 ? "" : "s");
    return exit_code::success;
}

// All of it or nothing: half a report would open as an empty page.
Outcome export_report(Context& context, const Choice& choice, const std::string& name)
{
    Daemon* daemon = TRY(context.daemon());
    std::vector<std::string> ids;
    std::size_t count = 0;
    TRY(each_run(*daemon, choice, [&](const Json& run) -> Result<> {
        if (++count <= most_report_runs) ids.push_back(run.text("run_id"));
        return {};
    }));
    if (ids.empty()) {
        return tl::unexpected<Failure>(
            Error(ErrorKind::not_found,
                  "no run was found for the report",
                  "'ponk history list' takes the same --filter and shows what it finds."));
    }
    const os::Fd file = TRY(new_file(name));
    const auto written = [&]() -> Result<ReportMade> {
        auto made = TRY(make_report(*daemon, ids, count - ids.size(), context.entry().report));
        TRY(os::write_all(file.get(), made.document)
                .map_error(while_doing("write {}", os::in_quotes(name))));
        return made;
    }();
    if (!written) {
        ::unlink(name.c_str());
        return tl::unexpected<Failure>(written.error());
    }
    context.note("{} run{} in the report {}, {}",
                 ids.size(),
                 ids.size() == 1 ? "" : "s",
                 os::in_quotes(name),
                 byte_size_text(written->document.size()));
    if (count > ids.size())
        context.note("{} older runs are left out: a report has at most {}; --filter chooses others",
                     count - ids.size(),
                     most_report_runs);
    if (written->metrics_left_out > 0)
        context.note("{} metrics have no chart in it: a report has at most {}",
                     written->metrics_left_out,
                     most_report_metrics);
    if (written->values_left_out > 0)
        context.note("{} long texts or values are shortened or left out; "
                     "without --html, 'ponk history export' writes all",
                     written->values_left_out);
    return exit_code::success;
}

Outcome run(Context& context, const Invocation& words)
{
    for (const auto* other : {"format", "destination", "points"}) {
        if (words.has("html") && words.has(other))
            return fail_usage("--html writes a report: do not give --{} as well", other);
    }
    const auto form = words.value("format").value_or("jsonl");
    if (std::ranges::count(forms, form) == 0)
        return fail_usage("--format takes jsonl or csv, not '{}'", printable(form));
    if (words.has("points") && form != "csv")
        return fail_usage("--points needs --format csv; JSON Lines always contain all points");
    const Choice choice = TRY(choice_of(context, words));
    if (const auto name = words.value("html")) return export_report(context, choice, *name);
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
    .summary = "Write runs with all their metric points as JSON Lines or CSV, or a report",
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
        "gets a leading apostrophe.\nReport (--html): a table of the runs, what differs between "
        "them, a chart for each metric that has lost no peak, and for each run its command, "
        "packages, code and GPU verdict. It loads nothing from anywhere.",
    .options = history_export_command::options,
    .positionals = history_export_command::positionals,
    .examples = history_export_command::examples,
    .history = Command::History::any,
    .run = history_export_command::run,
};

}  // namespace ponk::cli
