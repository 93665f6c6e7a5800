// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/artifact.hpp"
#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/context.hpp"
#include "cli/log_stream.hpp"
#include "cli/run_view.hpp"
#include "cli/terminal_filter.hpp"
#include "output/chart.hpp"
#include "output/terminal.hpp"

#include <cmath>
#include <unistd.h>

namespace ponk::cli {
namespace {

constexpr Option options[] = {
    common::run_option,
    {.name = "artifact",
     .brief = "a",
     .value = "PATH",
     .help = "Print this file of the run instead: 'driver_log', 'outputs/…'."},
};
constexpr Positional positionals[] = {common::run};
constexpr Example examples[] = {
    {"ponk history info last", "All about the newest run, with its curves."},
    {"ponk history info 4f1e --artifact outputs/report.txt", "The content of a file it made."},
};
constexpr std::size_t most_charts = 20;
// Names that are looked at for charts, and those that a table has lines for.
constexpr std::size_t most_names = 200;
// More than a terminal has columns; the daemon keeps what is lowest and highest among them.
constexpr int most_points = 400;
constexpr std::size_t tail_lines = 20;

output::Series series_of(const std::string& name, const Json& metric)
{
    output::Series series{.name = printable(name), .y = {}, .x = {}};
    if (!metric["points"].is_array()) return series;
    double last_step = -HUGE_VAL;
    for (const Json& point : metric["points"].as_array()) {
        if (!point.is_array() || point.as_array().size() < 3) continue;
        const Json& value = point.as_array()[2];
        const double step = point.as_array()[0].is_number() ? point.as_array()[0].as_double() : 0;
        if (!value.is_number() || step < last_step) continue;
        last_step = step;
        series.x.push_back(step);
        series.y.push_back(value.as_double());
    }
    return series;
}

// The curves of all metrics with more than one point.
Result<std::string> charts(Daemon& daemon, const std::string& id, const output::Terminal& terminal)
{
    const Json answer = TRY(daemon.get(
        fmt::format("/runs/{}/metrics?points={}&limit={}", id, most_points, most_names)));
    std::string text;
    std::size_t drawn = 0;
    if (!answer["metrics"].is_object()) return text;
    for (const auto& [name, metric] : answer["metrics"].as_object()) {
        const output::Series series = series_of(name, metric);
        if (series.y.size() < 2 || drawn == most_charts) continue;
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
    const auto& metrics = record["metrics"].as_object();
    for (const auto& [name, value] : metrics) {
        if (shown.size() == most_names) break;
        shown.append(name, value);
    }
    const auto left_out = static_cast<std::int64_t>(metrics.size() - shown.size()) +
                          record.integer("metrics_left_out");
    std::string text =
        output::render(brief_metrics(Json(std::move(shown))), output::Format::table, terminal);
    if (left_out > 0)
        text +=
            fmt::format("… and {} more: ponk history export {}\n", left_out, record.text("run_id"));
    return text;
}

// The last lines of the log, made safe for a terminal: a traceback stands there.
Result<std::string> log_tail(Daemon& daemon, const std::string& id)
{
    std::string log;
    TRY(daemon.stream(
        "/runs/" + id + "/log",
        [&log](std::string_view bytes) {
            log += bytes;
            if (log.size() > (std::size_t{1} << 20))
                log.erase(0, log.size() - (std::size_t{64} << 10));
            return true;
        },
        answer_limit));
    std::size_t start = log.size();
    for (std::size_t lines = 0; start > 0; --start) {
        if (log[start - 1] == '\n' && start != log.size() && ++lines == tail_lines) break;
    }
    std::string shown;
    TerminalFilter filter;
    filter.feed(std::string_view(log).substr(start), shown);
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
    TRY(context.print(record, view_of_run(record)));
    if (context.format() != output::Format::table || context.has_query()) return exit_code::success;
    Daemon* daemon = TRY(context.daemon());
    if (record["metrics"].is_object() && !record["metrics"].as_object().empty()) {
        output::Terminal terminal = output::detect_terminal(STDOUT_FILENO);
        TRY(Context::print_text("\n" + metrics_table(record, terminal)));
        if (terminal.width == 0) terminal.width = 80;
        TRY(Context::print_text(TRY(charts(*daemon, id, terminal))));
    }
    const std::string status = record.text("status");
    if (status == "Failed" || status == "Lost") {
        const std::string tail = TRY(log_tail(*daemon, id));
        if (!tail.empty()) TRY(Context::print_text("\nEnd of its log:\n" + tail));
    }
    return exit_code::success;
}

}  // namespace

constinit const Command cmd_history_info = {
    .path = "history info",
    .summary = "Show all that is known of a run",
    .description = "On a terminal: its record, its metrics with a chart of each series, and for a "
                   "failed run the end of its log. Without RUN: the newest run of the project.",
    .options = options,
    .positionals = positionals,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli
