// SPDX-License-Identifier: Apache-2.0
#include "importer/lines_source.hpp"

#include "base/take.hpp"
#include "base/text.hpp"
#include "importer/line_cursor.hpp"
#include "importer/line_reader.hpp"
#include "model/run_state.hpp"

#include <cmath>
#include <deque>
#include <limits>
#include <set>

namespace ponk::importer {

namespace {

constexpr std::size_t longest_line = std::size_t{4} << 30;

using store::PointColumns;

// The members of one line.
struct Line {
    Json run;
    Json experiment;
    Json inputs;
    Json events;
    Json logged_model;
    Json registered_model;
    store::PointsByKey points;
};

std::optional<double> special_number(const std::string& text)
{
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
}

// [step, time, value] or [step, time, value, "list"|"text"|"list text"]
Result<> read_point(LineCursor& in, PointColumns& points)
{
    model::MetricPoint point;
    TRY(in.expect('['));
    point.step = TRY(in.integer());
    TRY(in.expect(','));
    point.time = TRY(in.integer());
    TRY(in.expect(','));
    std::optional<std::string> text;
    if (in.peek() == '"') {
        text = TRY(in.string());
    } else {
        point.value = TRY(in.number());
    }
    std::string mark;
    if (in.take(',')) mark = TRY(in.string());
    if (!mark.empty() && mark != "list" && mark != "text" && mark != "list text")
        return fail(
            ErrorKind::invalid_argument, "a point has the unknown mark '{}'", printable(mark));
    const bool marked_text = mark.ends_with("text");
    if (marked_text && !text)
        return fail(ErrorKind::invalid_argument, "a point that is marked as text has none");
    if (mark.starts_with("list")) point.form = model::MetricPoint::Form::list;
    if (text) {
        const auto special = marked_text ? std::nullopt : special_number(*text);
        if (special) {
            point.value = *special;
        } else {
            point.text = std::move(text);
        }
    }
    points.add(point);
    return in.expect(']');
}

// {KEY: {"latest", "count", "points": […]}}
Result<> read_metrics(LineCursor& in, store::PointsByKey& all)
{
    return in.each_member([&](const std::string& key) -> Result<> {
        PointColumns points;
        std::optional<std::int64_t> count;
        TRY(in.each_member([&](const std::string& member) -> Result<> {
            if (member == "points")
                return in.each_element([&]() -> Result<> { return read_point(in, points); });
            if (member != "count") return in.skip();
            count = TRY(in.integer());
            return {};
        }));
        if (count && *count != static_cast<std::int64_t>(points.size()))
            return fail(ErrorKind::invalid_argument,
                        "the metric '{}' has {} points, but its count is {}",
                        printable(key),
                        points.size(),
                        *count);
        all.append(key, points);
        return {};
    });
}

Result<> read_line(LineCursor& in, Line& line)
{
    TRY(in.each_member([&](const std::string& member) -> Result<> {
        if (member == "metrics") return read_metrics(in, line.points);
        Json* const place = member == "run"                ? &line.run
                            : member == "experiment"       ? &line.experiment
                            : member == "inputs"           ? &line.inputs
                            : member == "events"           ? &line.events
                            : member == "logged_model"     ? &line.logged_model
                            : member == "registered_model" ? &line.registered_model
                                                           : nullptr;
        if (place == nullptr) return in.skip();
        *place = TRY(in.value());
        return {};
    }));
    return in.expect_end();
}

// Older exports do not tell the experiment: it is the run's project.
Result<store::ExperimentCopy> experiment_of(const Line& line, const store::RunCopy& run)
{
    if (!line.experiment.is_null()) return store::parse_experiment(line.experiment);
    store::ExperimentCopy copy;
    copy.project = run.run.project;
    copy.path = run.run.project_path;
    const bool folder = run.origin == store::Origin::engine;
    copy.kind = folder ? store::ExperimentCopy::Kind::folder : store::ExperimentCopy::Kind::client;
    copy.project_name = os::Path(copy.path).filename().native();
    copy.name = copy.project_name.empty() ? copy.project : copy.project_name;
    if (copy.name.empty())
        return fail(ErrorKind::invalid_argument, "the run has neither experiment nor project");
    return copy;
}

class LinesSource final : public Source {
public:
    explicit LinesSource(LineReader reader) : reader_(std::move(reader)) {}

    Result<std::optional<Item>> next() override
    {
        while (ready_.empty()) {
            if (!TRY(reader_.next(line_))) return std::optional<Item>();
            if (!trim(line_).empty()) take_line();
        }
        return std::optional(take_front(ready_));
    }

    [[nodiscard]] double fraction() const override { return reader_.fraction(); }

private:
    void take_line()
    {
        LineCursor in(without_byte_order_mark(line_));
        Line line;
        auto done = read_line(in, line);
        if (!done) return damaged(in.place(), done.error());
        done = use(line);
        // It is JSON, but not what we write: the line as a whole.
        if (!done) damaged(0, done.error());
    }

    Result<> use(Line& line)
    {
        if (!line.run.is_null()) return use_run(line);
        if (!line.logged_model.is_null()) {
            const auto experiment = TRY(store::parse_experiment(line.experiment));
            auto copy = TRY(store::parse_model_copy(line.logged_model));
            ready_.push_back({where(), ModelItem{announce(experiment), std::move(copy)}});
            return {};
        }
        if (!line.registered_model.is_null()) {
            auto copy = TRY(store::parse_registered(line.registered_model));
            ready_.push_back({where(), RegisteredItem{std::move(copy)}});
            return {};
        }
        if (line.experiment.is_null())
            return fail(ErrorKind::invalid_argument,
                        "it has none of 'run', 'experiment', 'logged_model', 'registered_model'");
        announce(TRY(store::parse_experiment(line.experiment)));
        return {};
    }

    Result<> use_run(Line& line)
    {
        auto copy = TRY(store::parse_run_copy(line.run, line.inputs, line.events));
        const auto experiment = TRY(experiment_of(line, copy));
        if (copy.origin == store::Origin::engine && !model::is_terminal(copy.run.state)) {
            ready_.push_back(
                {where(),
                 LeftOut{LeftOut::Severity::problem,
                         fmt::format("run '{}' was {} when it was exported: export it when it has "
                                     "ended",
                                     copy.run.id.text(),
                                     model::to_string(copy.run.state))}});
            return {};
        }
        copy.points = std::move(line.points);
        RunItem item{announce(experiment), std::move(copy)};
        ready_.push_back({where(), std::move(item)});
        return {};
    }

    ExperimentKey announce(const store::ExperimentCopy& experiment)
    {
        auto key = experiment.project + "\n" + experiment.name;
        if (announced_.insert(key).second)
            ready_.push_back({where(), ExperimentItem{key, experiment}});
        return key;
    }

    void damaged(std::size_t place, const Error& error)
    {
        ready_.push_back({fmt::format("{}:{}", where(), place + 1),
                          LeftOut{LeftOut::Severity::problem, error.message()}});
    }

    [[nodiscard]] std::string where() const { return reader_.where(); }

    LineReader reader_;
    std::string line_;
    std::deque<Item> ready_;
    std::set<std::string> announced_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_lines(const os::Path& file)
{
    return std::make_unique<LinesSource>(TRY(LineReader::open(file, longest_line)));
}

}  // namespace ponk::importer
