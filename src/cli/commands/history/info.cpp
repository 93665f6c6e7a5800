// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/artifact.hpp"
#include "cli/runs/gpu_view.hpp"
#include "cli/runs/log_stream.hpp"
#include "cli/runs/metric_follow.hpp"
#include "cli/runs/metric_series.hpp"
#include "cli/runs/run_view.hpp"
#include "cli/terminal/terminal_filter.hpp"
#include "model/run_words.hpp"
#include "net/target.hpp"
#include "output/chart.hpp"
#include "output/terminal.hpp"

#include <unistd.h>

namespace ponk::cli {
namespace history_info_command {

constexpr Option options[] = {
    common::run_option,
    {.name = "artifact",
     .brief = "a",
     .value = "PATH",
     .help = "Print this file of the run instead: 'driver_log' or 'outputs/…'."},
    {.name = "follow",
     .brief = "f",
     .help = "Then show new metric values until the run has ended."},
};
constexpr Positional positionals[] = {common::run};
constexpr Example examples[] = {
    {"ponk history info last", "Show everything about the newest run, with charts."},
    {"ponk history info last --follow", "Show metrics live. Ctrl-C stops following, not the run."},
    {"ponk history info 4f1e --artifact outputs/report.txt", "Print a file that the run wrote."},
};
constexpr std::size_t most_charts = 20;
// Names that are looked at for charts, and those that a table has lines for.
constexpr std::size_t most_names = 200;
// More than a terminal has columns; the daemon keeps what is lowest and highest among them.
constexpr int most_points = 400;
constexpr std::size_t tail_lines = 20;

// The curves of all metrics of the script with more than one step, in the order of the record.
Result<std::string> charts(Daemon& daemon, const Json& record, const output::Terminal& terminal)
{
    const Json answer = TRY(daemon.get(fmt::format(
        "/runs/{}/metrics?points={}&limit={}", record.text("run_id"), most_points, most_names)));
    std::string text;
    std::size_t drawn = 0;
    if (!answer["metrics"].is_object()) return text;
    const Json metrics = script_metrics(record["metrics"]);
    for (const auto& [name, value] : metrics.as_object()) {
        const Json& metric = answer["metrics"][name];
        if (metric.is_null()) continue;
        const output::Series series = series_of(name, metric);
        if (!has_steps(series) || drawn == most_charts) continue;
        ++drawn;
        text += "\n" + output::draw_chart(
                           {&series, 1}, {.terminal = terminal, .height = 8, .title = series.name});
    }
    return text;
}

// The latest values, as many as a reader can take in.
std::string metrics_table(const Json& record, const output::Terminal& terminal)
{
    JsonObject shown;
    const Json metrics = script_metrics(record["metrics"]);
    for (const auto& [name, value] : metrics.as_object()) {
        if (shown.size() == most_names) break;
        shown.append(name, value);
    }
    const auto left_out = static_cast<std::int64_t>(metrics.as_object().size() - shown.size()) +
                          record.integer("metrics_left_out");
    if (shown.empty() && left_out == 0) return {};
    std::string text =
        output::render(brief_metrics(Json(std::move(shown))), output::Format::table, terminal);
    if (left_out > 0)
        text +=
            fmt::format("… and {} more: ponk history export {}\n", left_out, record.text("run_id"));
    return text;
}

// What ponk measured beside the script's own metrics: CPU, memory and GPUs as curves, the rest by
// its latest values.
Result<std::string>
system_part(Daemon& daemon, const Json& record, const output::Terminal& terminal)
{
    const Json measured = system_metrics(record["metrics"]);
    if (measured.as_object().empty()) return std::string();
    const Json answer = TRY(daemon.get(fmt::format("/runs/{}/metrics?prefix={}&points={}&limit={}",
                                                   record.text("run_id"),
                                                   net::percent_encode(model::system_prefix),
                                                   most_points,
                                                   most_names)));
    std::string text =
        use_charts(answer["metrics"], terminal) + gpu_charts(answer["metrics"], terminal);
    JsonObject rest;
    for (const auto& [name, value] : measured.as_object()) {
        if (!is_charted(name) && rest.size() < most_names) rest.append(name, value);
    }
    if (!rest.empty())
        text += "\n" + output::render(
                           brief_metrics(Json(std::move(rest))), output::Format::table, terminal);
    return text;
}

// The last lines of the log, made safe for a terminal: a traceback stands there.
Result<std::string> log_tail(Daemon& daemon, const std::string& id, ProjectPaths paths)
{
    constexpr std::size_t most = std::size_t{64} << 10;
    std::string log;
    const auto from = TRY(find_log_tail(daemon, id, tail_lines));
    TRY(daemon.stream(
        fmt::format("/runs/{}/log?from={}", id, from),
        [&log](std::string_view bytes) {
            log += bytes;
            if (log.size() > 16 * most) log.erase(0, log.size() - most);
            return true;
        },
        answer_limit));
    std::string shown;
    TerminalFilter filter;
    filter.feed(paths.feed(log) + paths.finish(), shown);
    filter.finish(shown);
    if (!shown.empty() && shown.back() != '\n') shown += '\n';
    return shown;
}

Outcome print_artifact(Context& context, const std::string& id, const std::string& artifact)
{
    Daemon* daemon = TRY(context.daemon());
    LogWriter writer(STDOUT_FILENO);
    if (artifact == "driver_log") {
        TRY(copy_log(*daemon, {.run = id, .offset = 0}, writer));
        return exit_code::success;
    }
    std::optional<Error> problem;
    const auto streamed = daemon->stream(
        artifact_path(id, artifact),
        [&](std::string_view bytes) {
            auto written = writer.write(bytes);
            if (!written) problem = written.error();
            return written.has_value();
        },
        answer_limit);
    if (problem) return tl::unexpected(Failure(*problem, exit_code::damaged));
    TRY(streamed);
    TRY(writer.finish());
    return exit_code::success;
}

Outcome run(Context& context, const Invocation& words)
{
    const Json record = TRY(context.run(TRY(run_name(words, "last"))));
    const std::string id = record.text("run_id");
    if (const auto artifact = words.value("artifact"))
        return print_artifact(context, id, *artifact);
    if (words.has("follow")) return follow_metrics(context, record);
    TRY(context.print(record, view_of_run(record)));
    if (context.format() != output::Format::table || context.has_query()) return exit_code::success;
    Daemon* daemon = TRY(context.daemon());
    if (record["metrics"].is_object() && !record["metrics"].as_object().empty()) {
        output::Terminal terminal = output::detect_terminal(STDOUT_FILENO);
        if (const auto table = metrics_table(record, terminal); !table.empty())
            TRY(Context::print_text("\n" + table));
        if (terminal.width == 0) terminal.width = 80;
        TRY(Context::print_text(TRY(charts(*daemon, record, terminal))));
        TRY(Context::print_text(TRY(system_part(*daemon, record, terminal))));
    }
    const std::string status = record.text("status");
    if (status == "Failed" || status == "Lost") {
        const bool person = ::isatty(STDOUT_FILENO) == 1;
        const std::string tail = TRY(log_tail(
            *daemon, id, person ? project_paths(TRY(context.home()), record) : ProjectPaths()));
        if (!tail.empty()) TRY(Context::print_text("\nEnd of the log:\n" + tail, Passing::log));
    }
    return exit_code::success;
}

}  // namespace history_info_command

constinit const Command cmd_history_info = {
    .path = "history info",
    .summary = "Show everything about a run",
    .description =
        "On a terminal: the run's record, its metrics with a chart of each series, charts of "
        "its CPU and memory use and of its GPUs if it used any, and for a failed run the end of "
        "its log. Without RUN: the newest run "
        "of the project.\n--follow continues after the record: a terminal shows the latest value "
        "of each metric, a pipe gets a line 'KEY STEP VALUE' for each value, -o json an object, -o "
        "tsv key, step, time in ms and value. Changes of the state are printed on standard error. "
        "Metrics that ponk itself measures are not included.",
    .options = history_info_command::options,
    .positionals = history_info_command::positionals,
    .examples = history_info_command::examples,
    .paged = Command::Paged::yes,
    .history = Command::History::any,
    .exits = "79 with a last line 'ponk: detached:' after Ctrl-C: the run continues.",
    .run = history_info_command::run,
};

}  // namespace ponk::cli
