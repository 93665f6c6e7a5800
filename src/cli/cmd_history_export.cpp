// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/run_search.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::cli {
namespace {

constexpr Option options[] = {
    {.name = "destination",
     .brief = "d",
     .value = "FILE",
     .help = "Write to this new file. Default: standard output.",
     .complete = Complete::file},
    {.name = "all-projects", .brief = "A", .help = "Runs of every project."},
};
constexpr Positional positionals[] = {
    {.name = "RUN",
     .help = "Runs to export. Default: all of the project.",
     .count = Positional::Count::many,
     .complete = Complete::run},
};
constexpr Example examples[] = {
    {"ponk history export -d runs.jsonl", "All runs of the project with all their metric points."},
};

Result<JsonArray> chosen_runs(Context& context, const Invocation& words)
{
    JsonArray runs;
    if (!words.words().empty()) {
        for (const std::string& name : words.words())
            runs.push_back(TRY(context.run(name)));
        return runs;
    }
    JsonObject search{{"hidden", true}};
    if (!words.has("all-projects")) {
        const std::string project = TRY(context.project_id());
        if (project.empty()) return runs;
        search.set("project", project);
    }
    runs = TRY(search_runs(*TRY(context.daemon()), std::move(search), 0));
    std::reverse(runs.begin(), runs.end());
    return runs;
}

Result<JsonArray> events_of(Daemon& daemon, const std::string& id)
{
    std::string text;
    TRY(daemon.stream(
        "/runs/" + id + "/events",
        [&text](std::string_view bytes) {
            text += bytes;
            return true;
        },
        answer_limit));
    JsonArray events;
    for (const std::string& line : split(text, '\n')) {
        if (!line.empty()) events.push_back(TRY(parse_json(line)));
    }
    return events;
}

Result<os::Fd> new_file(const std::string& name)
{
    return os::open_file(name, O_WRONLY | O_CREAT | O_EXCL, 0644)
        .map_error([&](const Error& error) {
            return error.kind() == ErrorKind::conflict
                       ? error.with_hint("Name a new file: what is there is not overwritten.")
                       : error;
        });
}

// The daemon's {"metrics": …} becomes the middle of the line as it comes: it can be larger than our
// memory.
Result<> write_line(Daemon& daemon, const Json& run, int out)
{
    constexpr std::string_view end = "}\n";
    const std::string id = run.text("run_id");
    TRY(os::write_all(out, "{\"run\":" + to_json(run) + ","));
    std::optional<Error> problem;
    std::string held;  // what may be the end of the answer
    bool first = true;
    const auto copy = [&](std::string_view bytes) {
        held += bytes;
        if (held.size() <= end.size()) return true;
        const auto ready = std::string_view(held).substr(0, held.size() - end.size());
        const auto written = os::write_all(out, first ? ready.substr(1) : ready);
        first = false;  // its opening brace is left out
        if (!written) problem = written.error();
        held.erase(0, ready.size());
        return written.has_value();
    };
    const auto streamed = daemon.stream("/runs/" + id + "/metrics", copy, answer_limit);
    if (problem) return tl::unexpected(*problem);
    TRY(streamed);
    if (held != end) return fail(ErrorKind::damaged, "the metrics of run '{}' are cut off", id);
    return os::write_all(out, ",\"events\":" + to_json(Json(TRY(events_of(daemon, id)))) + "}\n");
}

Outcome run(Context& context, const Invocation& words)
{
    os::Fd file;
    int out = STDOUT_FILENO;
    if (const auto name = words.value("destination")) {
        file = TRY(new_file(*name));
        out = file.get();
    }
    Daemon* daemon = TRY(context.daemon());
    const JsonArray runs = TRY(chosen_runs(context, words));
    for (const Json& run : runs) {
        TRY(write_line(*daemon, run, out));
    }
    context.note("{} run{} exported", runs.size(), runs.size() == 1 ? "" : "s");
    return exit_code::success;
}

}  // namespace

constinit const Command cmd_history_export = {
    .path = "history export",
    .summary = "Write runs with all their metric points as JSON Lines",
    .description =
        "One line for each run, oldest first: {\"run\": record, \"metrics\": {name: {latest, "
        "count, points: [[step, time in ms, value], …]}}, \"events\": [{seq, time, kind, "
        "text}, …]}.",
    .options = options,
    .positionals = positionals,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli
