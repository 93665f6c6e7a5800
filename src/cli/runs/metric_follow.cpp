// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/metric_follow.hpp"

#include "base/text.hpp"
#include "cli/runs/follow.hpp"
#include "cli/runs/run_view.hpp"
#include "cli/terminal/interrupt.hpp"
#include "cli/terminal/screen.hpp"
#include "model/run_words.hpp"
#include "net/target.hpp"
#include "output/cell.hpp"
#include "output/chart.hpp"
#include "output/table.hpp"

#include <algorithm>
#include <unistd.h>

namespace ponk::cli {
namespace {

constexpr std::int64_t most_at_once = 1000;  // of one metric in one look
constexpr std::size_t most_names = 1000;
constexpr std::size_t course_length = 200;
constexpr int course_width = 30;

bool has_ended(const Json& run)
{
    return !run["end_time_utc"].is_null();
}

std::int64_t time_of(const LoggedValue& value)
{
    return value.time.is_integer() ? value.time.as_integer() : 0;
}

std::string value_text(const Json& value)
{
    return value.is_string() ? printable(value.as_string()) : to_json(value);
}

// Where the values go: the way they look is all that differs between a terminal, a pipe and JSON.
class Printer {
public:
    enum class Form { board, plain, tabs, json };

    Printer(Context& context, Form form) : context_(context), form_(form)
    {
        if (form_ == Form::board) screen_.emplace();
    }

    Result<> head(const Json& run)
    {
        status_ = run.text("status");
        if (form_ == Form::json) return line(JsonObject{{"run", run}});
        if (form_ == Form::tabs) return {};
        const auto text = output::render(
            view_of_run(run).rows, output::Format::table, output::detect_terminal(STDOUT_FILENO));
        return Context::print_text(text + "\n");
    }

    Result<> look(const Json& run, const MetricFollower::Look& look)
    {
        TRY(status(run));
        if (look.left_out > 0 && form_ != Form::board)
            context_.note("{} earlier values are not shown", look.left_out);
        std::string text;
        for (const LoggedValue& value : look.values) {
            if (form_ == Form::board)
                board_.add(value);
            else
                text += text_of(value);
        }
        if (!screen_) return text.empty() ? Result<>() : Context::print_text(text);
        return screen_->draw(board_.lines(run, output::detect_terminal(STDOUT_FILENO)));
    }

    Result<> end(const Json& run)
    {
        screen_.reset();
        if (form_ == Form::json) return line(JsonObject{{"run", run}});
        return {};
    }

private:
    static Result<> line(const Json& json) { return Context::print_text(to_json(json) + "\n"); }

    Result<> status(const Json& run)
    {
        const auto now = run.text("status");
        if (now == status_) return {};
        status_ = now;
        if (form_ == Form::json) return line(JsonObject{{"status", now}});
        // The board shows it, and the end has a line of its own.
        if (form_ != Form::board && !has_ended(run))
            context_.note("run {}: {}", brief_id(run), now);
        return {};
    }

    [[nodiscard]] std::string text_of(const LoggedValue& value) const
    {
        if (form_ == Form::plain) return plain_line(value) + "\n";
        if (form_ == Form::json)
            return to_json(JsonObject{{"metric", value.key},
                                      {"step", value.step},
                                      {"time", value.time},
                                      {"value", value.value}}) +
                   "\n";
        JsonArray rows;
        rows.push_back(JsonArray{value.key, value.step, value.time, value.value});
        return output::render(Json(std::move(rows)), output::Format::tsv, {});
    }

    Context& context_;
    Form form_;
    std::string status_;
    MetricBoard board_;
    std::optional<Screen> screen_;
};

tl::expected<Printer::Form, Failure> form_of(const Context& context)
{
    using enum output::Format;
    if (context.has_query()) return fail_usage("--query cannot be used with --follow");
    switch (context.asked_format().value_or(table)) {
    case json:
    case jsonc:
        return Printer::Form::json;
    case tsv:
        return Printer::Form::tabs;
    case yaml:
        return fail_usage("--follow supports the formats table, tsv and json, not yaml");
    case table:
        break;
    }
    return ::isatty(STDOUT_FILENO) == 1 ? Printer::Form::board : Printer::Form::plain;
}

}  // namespace

std::string plain_line(const LoggedValue& value)
{
    return fmt::format(
        "{} {} {}", printable(value.key), value_text(value.step), value_text(value.value));
}

Result<MetricFollower::Look> MetricFollower::look(std::stop_token stop)
{
    const auto get = [&](const std::string& parameters) {
        return daemon_.send("GET",
                            "/runs/" + run_ + "/metrics?" + parameters,
                            {},
                            Daemon::Repeat::when_broken,
                            answer_limit,
                            stop);
    };
    Look look;
    const Json counts = TRY(get(fmt::format("points=0&limit={}", most_names)));
    if (!counts["metrics"].is_object()) return look;
    for (const auto& [key, metric] : counts["metrics"].as_object()) {
        const auto count = metric.integer("count");
        auto& seen = seen_[key];
        if (count <= seen || key.starts_with(model::system_prefix)) continue;
        const auto from = std::max(seen, count - most_at_once);
        look.left_out += from - seen;
        const Json answer = TRY(get(fmt::format("key={}&from={}", net::percent_encode(key), from)));
        const Json& points = answer["metrics"][key]["points"];
        if (!points.is_array()) continue;
        for (const Json& point : points.as_array()) {
            if (!point.is_array() || point.as_array().size() < 3) continue;
            const auto& parts = point.as_array();
            look.values.push_back({key, parts[0], parts[1], parts[2]});
        }
        seen = from + static_cast<std::int64_t>(points.as_array().size());
    }
    std::ranges::stable_sort(look.values, {}, time_of);
    return look;
}

void MetricBoard::add(const LoggedValue& value)
{
    Row& row = rows_[value.key];
    row.step = value.step;
    row.value = value.value;
    if (!value.value.is_number()) return;
    row.course.push_back(value.value.as_double());
    if (row.course.size() > course_length) row.course.pop_front();
}

std::vector<std::string> MetricBoard::lines(const Json& run, const output::Terminal& terminal) const
{
    auto title = fmt::format("run {} {}", brief_id(run), brief_status(run));
    if (run["duration_ms"].is_integer())
        title += " " + brief_duration_text(run.integer("duration_ms"));
    std::vector<std::string> lines{output::shortened(
        title, terminal.width > 0 ? static_cast<std::size_t>(terminal.width) : 80, terminal)};
    if (rows_.empty()) {
        lines.emplace_back("no metrics yet");
        return lines;
    }
    JsonArray rows;
    for (const auto& [key, row] : rows_) {
        const std::vector<double> course(row.course.begin(), row.course.end());
        rows.push_back(JsonObject{{"metric", key},
                                  {"step", row.step},
                                  {"value", output::cell_text(row.value)},
                                  {"course", output::sparkline(course, course_width, terminal)}});
    }
    const auto table = output::render_table(
        Json(std::move(rows)),
        terminal,
        {{.key = "metric", .min = 12},
         {.key = "step", .align = output::Align::right, .min = output::whole},
         {.key = "value", .align = output::Align::right, .min = 12},
         {.key = "course", .align = output::Align::left, .min = output::whole}});
    for (auto& line : split(table, '\n'))
        if (!line.empty() && !line.starts_with("(1 more")) lines.push_back(std::move(line));
    return lines;
}

Outcome follow_metrics(Context& context, const Json& record)
{
    const auto form = TRY(form_of(context));
    Daemon* daemon = TRY(context.daemon());
    const std::string id = record.text("run_id");
    const Interrupts interrupts;
    const auto stop = interrupts.token();
    MetricFollower follower(*daemon, id);
    Json run = record;
    Printer printer(context, form);
    TRY(printer.head(run));
    for (;;) {
        const bool ended = has_ended(run);
        auto look = follower.look(stop);
        if (look) TRY(printer.look(run, *look));
        if (look && ended) break;
        // A second at most: a Ctrl-C is heard at once, a value that came is not long unseen.
        auto next = look ? daemon->send("GET",
                                        fmt::format("/runs/{}/wait?timeout=1", id),
                                        {},
                                        Daemon::Repeat::when_broken,
                                        answer_limit,
                                        stop)
                         : Result<Json>(tl::unexpected(look.error()));
        if (interrupts.happened()) {
            TRY(printer.end(run));
            say_detached(context, id);
            return exit_code::detached;
        }
        run = TRY(std::move(next));
    }
    TRY(printer.end(run));
    if (form != Printer::Form::json) report_end(context, run);
    return exit_code::success;
}

}  // namespace ponk::cli
