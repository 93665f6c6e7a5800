// SPDX-License-Identifier: Apache-2.0
#include "output/chart.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/runs/metric_series.hpp"
#include "cli/runs/run_view.hpp"
#include "cli/syntax/suggest.hpp"
#include "model/run_words.hpp"
#include "net/target.hpp"

#include <algorithm>
#include <cmath>
#include <unistd.h>

namespace ponk::cli {
namespace history_chart_command {

constexpr std::string_view axes[] = {"step", "time", "wall"};
constexpr Option options[] = {
    {.name = "run",
     .brief = "r",
     .value = "RUN",
     .help = "Same as RUN. May be repeated.",
     .times = Option::Times::many,
     .complete = Complete::run},
    {.name = "metric",
     .brief = "m",
     .value = "KEY",
     .help = "Draw this metric. May be repeated: one chart for each metric. Default: all metrics "
             "with several steps.",
     .times = Option::Times::many},
    {.name = "together", .help = "Draw all metrics in one chart."},
    {.name = "x",
     .value = "AXIS",
     .help = "step, time (since the run's start), or wall (time of day, UTC). Default: step.",
     .complete = Complete::choice,
     .choices = axes},
    {.name = "log", .help = "Logarithmic scale for values. Values of 0 and below are gaps."},
    {.name = "smooth",
     .value = "F",
     .help = "Smooth with a moving average: from 0 (none) to below 1; 0.9 is strong."},
    {.name = "points",
     .value = "N",
     .help = "Maximum number of points per curve; the lowest and highest values are kept. Default: "
             "1000."},
    {.name = "width",
     .value = "N",
     .help = "Width in columns. Default: the terminal's width, else 80."},
    {.name = "height", .value = "N", .help = "Height of the plot in lines. Default: 15."},
};
constexpr Positional positionals[] = {
    {.name = "RUN",
     .help = "One or more runs. Default: 'last'.",
     .count = Positional::Count::many,
     .complete = Complete::run},
};
constexpr Example examples[] = {
    {"ponk history chart last --metric loss", "Draw the loss of the newest run."},
    {"ponk history chart 3 4 5 --metric loss --log --smooth 0.9", "Draw three runs in one chart."},
    {"ponk history chart last -m loss -m val_loss --together", "Draw two metrics in one chart."},
    {"ponk history chart 3 4 -m loss -o tsv",
     "Print the values: run, key, step, time in ms, value, and with --smooth the average."},
};

constexpr std::int64_t usual_points = 1000;
// A mean wants more of the points than a plot has columns; the daemon gives no more than these.
constexpr std::int64_t most_points = 100'000;
constexpr std::size_t most_charts = 6;
constexpr std::size_t most_names = 200;
constexpr std::size_t most_in_hint = 8;

struct ChartRequest {
    CurveOptions curve;
    output::Scale scale = output::Scale::linear;
    std::int64_t points = usual_points;
    int width = 0;
    int height = 15;
    bool together = false;
};

tl::expected<std::int64_t, Failure> number_in(const Invocation& words,
                                              std::string_view option,
                                              std::int64_t least,
                                              std::int64_t most,
                                              std::int64_t otherwise)
{
    const auto text = words.value(option);
    if (!text) return otherwise;
    const auto number = parse_integer(*text);
    if (!number || *number < least || *number > most)
        return fail_usage(
            "--{} needs a number from {} to {}, not '{}'", option, least, most, printable(*text));
    return *number;
}

tl::expected<ChartRequest, Failure> request_of(const Invocation& words)
{
    ChartRequest request;
    if (const auto x = words.value("x")) {
        const auto found = std::ranges::find(axes, *x);
        if (found == std::end(axes))
            return fail_usage("--x takes step, time or wall, not '{}'", printable(*x));
        request.curve.x = static_cast<ChartX>(found - std::begin(axes));
    }
    if (const auto smooth = words.value("smooth")) {
        const auto factor = parse_real(*smooth);
        if (!factor || !(*factor >= 0 && *factor < 1))
            return fail_usage("--smooth needs a number from 0 to below 1, not '{}'",
                              printable(*smooth));
        request.curve.smooth = *factor;
    }
    if (words.has("log")) request.scale = output::Scale::logarithmic;
    request.together = words.has("together");
    request.points = TRY(number_in(words,
                                   "points",
                                   1,
                                   most_points,
                                   request.curve.smooth > 0 ? most_points / 5 : usual_points));
    request.width = static_cast<int>(TRY(number_in(words, "width", 30, 1000, 0)));
    request.height = static_cast<int>(TRY(number_in(words, "height", 3, 100, 15)));
    return request;
}

// One curve: a metric of a run.
struct Curve {
    const Json* run = nullptr;
    std::string key;
    Json metric;
};
using Curves = std::vector<Curve>;

Result<Json> metrics_of(Daemon& daemon, const Json& run, const std::string& parameters)
{
    Json answer = TRY(daemon.get("/runs/" + run.text("run_id") + "/metrics?" + parameters));
    return answer["metrics"].is_object() ? answer["metrics"] : Json(JsonObject{});
}

tl::expected<std::vector<std::string>, Failure> known_metrics(Daemon& daemon, const JsonArray& runs)
{
    std::vector<std::string> names;
    for (const Json& run : runs) {
        const Json metrics = TRY(metrics_of(daemon, run, "points=0"));
        for (const auto& [name, metric] : metrics.as_object())
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

// The metrics of the script that have several steps in one of the runs.
tl::expected<std::vector<std::string>, Failure>
usual_metrics(Context& context, Daemon& daemon, const JsonArray& runs)
{
    std::vector<std::string> names;
    std::size_t more = 0;
    for (const Json& run : runs) {
        const Json metrics =
            TRY(metrics_of(daemon, run, fmt::format("points=2&limit={}", most_names)));
        for (const auto& [name, metric] : metrics.as_object()) {
            if (name.starts_with(model::system_prefix) || !has_steps(series_of(name, metric)) ||
                std::ranges::find(names, name) != names.end())
                continue;
            if (names.size() < most_charts)
                names.push_back(name);
            else
                ++more;
        }
    }
    if (names.empty())
        return tl::unexpected(Failure(
            Error(ErrorKind::not_found,
                  runs.size() == 1 ? "this run has no metric with several steps"
                                   : "these runs have no metric with several steps",
                  "'ponk history info RUN' shows all values; '--metric KEY' draws any metric.")));
    if (more > 0)
        context.note(
            "{} metrics are drawn, {} are not; use '--metric KEY' to choose", names.size(), more);
    return names;
}

// The curves of one metric; a run that has no such metric is named.
tl::expected<Curves, Failure> curves_of(Context& context,
                                        Daemon& daemon,
                                        const JsonArray& runs,
                                        const std::string& key,
                                        const ChartRequest& request)
{
    Curves curves;
    std::vector<std::string> without;
    for (const Json& run : runs) {
        const Json metrics = TRY(
            metrics_of(daemon,
                       run,
                       fmt::format("key={}&points={}", net::percent_encode(key), request.points)));
        if (metrics.as_object().empty()) {
            without.push_back(brief_id(run));
            continue;
        }
        curves.push_back({&run, key, metrics[key]});
        sort_points(curves.back().metric, request.curve.x);
    }
    if (curves.empty()) {
        const auto known = TRY(known_metrics(daemon, runs));
        std::string otherwise = "No metric was logged.";
        if (known.size() > most_in_hint)
            otherwise = "'ponk history info RUN' shows its metrics.";
        else if (!known.empty())
            otherwise = fmt::format("Metrics: {}.", join(known, ", "));
        return tl::unexpected(
            Failure(Error(ErrorKind::not_found,
                          fmt::format("{} no metric '{}'",
                                      runs.size() == 1 ? "this run has" : "these runs have",
                                      printable(key)),
                          suggest_name(key, known, otherwise))));
    }
    if (!without.empty())
        context.note("no metric '{}' in run {}", printable(key), join(without, ", "));
    return curves;
}

std::string run_title(const Json& run)
{
    auto title = brief_id(run);
    if (run["run_number"].is_integer())
        title = fmt::format("#{} {}", run.integer("run_number"), title);
    if (!run.text("name").empty()) title += " " + run.text("name");
    return title;
}

std::int64_t began(const Json& run)
{
    const auto start = parse_utc(run.text("start_time_utc", run.text("created_utc")));
    return start.value_or(0);
}

// "1.5 s", "12 min": exact enough for the ends of an axis.
std::string span_text(double ms)
{
    if (std::fabs(ms) < 60'000) return fmt::format("{:.3g} s", ms / 1000);
    const auto seconds = static_cast<std::int64_t>(ms / 1000);
    if (seconds < 3600) return fmt::format("{}:{:02} min", seconds / 60, seconds % 60);
    return fmt::format("{}:{:02} h", seconds / 3600, seconds / 60 % 60);
}

std::string wall_text(double ms)
{
    const auto text = utc_text(static_cast<std::int64_t>(ms));
    return text.size() < 19 ? text : text.substr(5, 5) + " " + text.substr(11, 8);
}

output::ChartOptions
chart_options(const ChartRequest& request, const output::Terminal& terminal, std::string title)
{
    output::ChartOptions chosen{.terminal = terminal,
                                .height = request.height,
                                .title = std::move(title),
                                .scale = request.scale};
    if (request.width > 0) chosen.terminal.width = request.width;
    if (request.curve.x == ChartX::time) {
        chosen.x_label = "time";
        chosen.x_text = span_text;
    } else if (request.curve.x == ChartX::wall) {
        chosen.x_label = "UTC";
        chosen.x_text = wall_text;
    }
    return chosen;
}

std::string draw(const Curves& curves,
                 const ChartRequest& request,
                 const output::Terminal& terminal,
                 const std::string& title,
                 std::size_t runs)
{
    std::vector<output::Series> series;
    for (const Curve& curve : curves) {
        auto wanted = request.curve;
        wanted.origin = began(*curve.run);
        auto name = runs == 1 && request.together ? curve.key : run_title(*curve.run);
        if (runs > 1 && request.together) name = curve.key + " " + name;
        series.push_back(curve_of(std::move(name), curve.metric, wanted));
    }
    auto heading = title;
    if (request.scale == output::Scale::logarithmic) heading += ", logarithmic";
    if (request.curve.smooth > 0)
        heading += fmt::format(", smoothed by {:g}", request.curve.smooth);
    auto text = output::draw_chart(series, chart_options(request, terminal, heading));
    if (!text.empty()) return text;
    return fmt::format("{}: no values to draw\n", printable(title));
}

Json json_of(const std::vector<std::pair<std::string, Curves>>& charts, const ChartRequest& request)
{
    JsonArray list;
    for (const auto& [key, curves] : charts) {
        JsonArray all;
        for (const Curve& curve : curves) {
            JsonObject one{{"run_id", (*curve.run)["run_id"]},
                           {"run_number", (*curve.run)["run_number"]},
                           {"name", (*curve.run)["name"]},
                           {"metric", curve.key},
                           {"latest", curve.metric["latest"]},
                           {"count", curve.metric["count"]},
                           {"points", curve.metric["points"]}};
            if (request.curve.smooth > 0)
                one.set("smoothed", means_of(curve.metric, request.curve.smooth));
            all.push_back(std::move(one));
        }
        list.push_back(JsonObject{{"metric", key}, {"series", std::move(all)}});
    }
    return list;
}

// run_id, key, step, time, value: a line for each point.
View lines_of(const std::vector<std::pair<std::string, Curves>>& charts,
              const ChartRequest& request)
{
    View view;
    JsonArray rows;
    for (const auto& [title, curves] : charts) {
        for (const Curve& curve : curves) {
            if (!curve.metric["points"].is_array()) continue;
            const auto means = means_of(curve.metric, request.curve.smooth);
            std::size_t at = 0;
            for (const Json& point : curve.metric["points"].as_array()) {
                JsonArray row{(*curve.run)["run_id"], curve.key};
                for (const Json& part : point.as_array())
                    row.push_back(part);
                if (request.curve.smooth > 0) row.push_back(means[at++]);
                rows.push_back(std::move(row));
            }
        }
    }
    view.exact = std::move(rows);
    return view;
}

tl::expected<JsonArray, Failure> runs_of(Context& context, const Invocation& words)
{
    std::vector<std::string> names = words.words();
    for (std::string& name : words.values("run"))
        names.push_back(std::move(name));
    if (names.empty()) names.emplace_back("last");
    JsonArray runs;
    for (const std::string& name : names)
        runs.push_back(TRY(context.run(name)));
    return runs;
}

Outcome run(Context& context, const Invocation& words)
{
    const auto request = TRY(request_of(words));
    const JsonArray runs = TRY(runs_of(context, words));
    Daemon* daemon = TRY(context.daemon());
    auto keys = words.values("metric");
    if (keys.empty()) keys = TRY(usual_metrics(context, *daemon, runs));
    if (runs.size() * (request.together ? keys.size() : 1) > output::most_marks())
        return fail_usage("a chart holds at most {} curves, not {}: give fewer runs",
                          output::most_marks(),
                          runs.size() * (request.together ? keys.size() : 1));
    std::vector<std::pair<std::string, Curves>> charts;
    for (const std::string& key : keys) {
        auto curves = TRY(curves_of(context, *daemon, runs, key, request));
        if (request.together && !charts.empty()) {
            charts[0].first += ", " + key;
            std::ranges::move(curves, std::back_inserter(charts[0].second));
        } else {
            charts.emplace_back(key, std::move(curves));
        }
    }
    if (context.format() != output::Format::table || context.has_query())
        return context.print(json_of(charts, request), lines_of(charts, request));
    const auto terminal = output::detect_terminal(STDOUT_FILENO);
    std::string text;
    for (const auto& [title, curves] : charts)
        text += (text.empty() ? "" : "\n") + draw(curves, request, terminal, title, runs.size());
    TRY(Context::print_text(text));
    return exit_code::success;
}

}  // namespace history_chart_command

constinit const Command cmd_history_chart = {
    .path = "history chart",
    .summary = "Draw charts of metrics",
    .description =
        "Draws a chart in the terminal for each metric, with one curve for each run, and lists for "
        "each curve its mark, the run, and the lowest, highest and last value. Values that are not "
        "numbers are gaps. In a pipe the output is JSON, as for all commands; '-o table' draws "
        "charts there too. In JSON each point is [step, time in ms since 1970, value].",
    .options = history_chart_command::options,
    .positionals = history_chart_command::positionals,
    .examples = history_chart_command::examples,
    .history = Command::History::any,
    .run = history_chart_command::run,
};

}  // namespace ponk::cli
