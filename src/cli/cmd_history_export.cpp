// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/run_view.hpp"
#include "net/target.hpp"

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
    std::string filters = "&hidden=1";
    if (!words.has("all-projects")) {
        const std::string project = TRY(context.project_id());
        if (project.empty()) return runs;
        filters += "&project=" + net::percent_encode(project);
    }
    return fetch_runs(*TRY(context.daemon()), filters, 0);
}

// The daemon's {"metrics": …} becomes the second half of the line as it comes: it can be larger
// than our memory.
Result<> write_line(Daemon& daemon, const Json& run, int out)
{
    TRY(os::write_all(out, "{\"run\":" + to_json(run) + ","));
    std::optional<Error> problem;
    bool first = true;
    const auto copy = [&](std::string_view bytes) {
        if (first) bytes.remove_prefix(1);  // its opening brace
        first = false;
        const auto written = os::write_all(out, bytes);  // ends with a line end
        if (!written) problem = written.error();
        return written.has_value();
    };
    const auto streamed =
        daemon.stream("/runs/" + run.text("run_id") + "/metrics", copy, answer_limit);
    if (problem) return tl::unexpected(*problem);
    return streamed;
}

Outcome run(Context& context, const Invocation& words)
{
    os::Fd file;
    int out = STDOUT_FILENO;
    if (const auto name = words.value("destination")) {
        file = TRY(os::open_file(*name, O_WRONLY | O_CREAT | O_EXCL, 0644));
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
    .description = "One line for each run: {\"run\": record, \"metrics\": {name: {latest, count, "
                   "points: [[step, time in ms, value], …]}}}.",
    .options = options,
    .positionals = positionals,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli
