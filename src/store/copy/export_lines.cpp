// SPDX-License-Identifier: Apache-2.0
#include "store/copy/export_lines.hpp"

#include "base/json.hpp"
#include "base/take.hpp"
#include "base/work_budget.hpp"
#include "store/copy/copy_rows.hpp"
#include "store/history/history.hpp"
#include "store/history/history_access.hpp"

#include <algorithm>

namespace ponk::store {

namespace {

constexpr std::size_t keys_at_a_time = 500;
constexpr std::size_t points_at_a_time = 8192;

// A number as it is; a text, and one of a list, are marked: the text "NaN" is no number.
void append_point(std::string& out, const model::MetricPoint& point)
{
    const bool list = point.form == model::MetricPoint::Form::list;
    fmt::format_to(std::back_inserter(out),
                   "[{},{},{}{}]",
                   point.step,
                   point.time,
                   to_json(point.text ? Json(*point.text) : Json(point.value)),
                   point.text ? (list ? ",\"list text\"" : ",\"text\"")
                              : (list ? ",\"list\"" : ""));
}

template <class T, class Read>
Result<std::deque<T>>
collect(db::Connection& reader, const std::string& sql, const std::string& project, Read read)
{
    auto statement = TRY(reader.prepare(sql));
    if (!project.empty()) statement.bind(project);
    std::deque<T> all;
    while (TRY(statement.step()))
        all.push_back(TRY(read(statement)));
    return all;
}

Result<std::string> text_of(const db::Statement& row)
{
    return row.text(0);
}

Result<> append(std::string& out, std::string_view piece)
{
    TRY(charge_answer(piece.size()));
    out += piece;
    return {};
}

}  // namespace

ExportLines::ExportLines(const History& history, ExportScope scope)
    : history_(history), scope_(std::move(scope))
{
}

Result<> ExportLines::list()
{
    if (scope_.run) {
        runs_.push_back(*scope_.run);
        return {};
    }
    const auto& project = scope_.project;
    return HistoryAccess::database(history_).read([&](db::Connection& reader) -> Result<> {
        const std::string where = project.empty() ? " " : " WHERE project.id = ? ";
        const std::string join = " CROSS JOIN project ON project.row =";
        experiments_ = TRY(collect<std::int64_t>(
            reader,
            "SELECT row FROM project" + where + "ORDER BY row",
            project,
            [](const db::Statement& row) -> Result<std::int64_t> { return row.integer(0); }));
        runs_ = TRY(collect<RunId>(
            reader,
            "SELECT run.id FROM run" + join + " run.project" + where + "ORDER BY run.row",
            project,
            [](const db::Statement& row) { return RunId::parse(row.text(0)); }));
        models_ = TRY(collect<std::string>(reader,
                                           "SELECT logged_model.id FROM logged_model" + join +
                                               " logged_model.project" + where +
                                               "ORDER BY logged_model.row",
                                           project,
                                           text_of));
        if (!project.empty()) return {};
        registered_ = TRY(collect<std::string>(
            reader, "SELECT name FROM registered_model ORDER BY row", project, text_of));
        return {};
    });
}

Result<bool> ExportLines::next(std::string& out)
{
    switch (part_) {
    case Part::begin:
        TRY(list());
        part_ = Part::experiments;
        return true;
    case Part::experiments:
        if (experiments_.empty()) part_ = Part::runs;
        if (!experiments_.empty()) TRY(add_experiment(out));
        return true;
    case Part::runs:
        if (open_) {
            TRY(go_on(out));
        } else if (!runs_.empty()) {
            TRY(begin_run(out));
        } else {
            part_ = Part::models;
        }
        return true;
    case Part::models:
        if (models_.empty()) part_ = Part::registry;
        if (!models_.empty()) TRY(add_model(out));
        return true;
    case Part::registry:
        if (registered_.empty()) part_ = Part::end;
        if (!registered_.empty()) TRY(add_registered(out));
        return true;
    case Part::end:
        break;
    }
    return false;
}

Result<> ExportLines::add_experiment(std::string& out)
{
    const auto copy = HistoryAccess::database(history_).read(
        [&](db::Connection& reader) { return read_experiment_copy(reader, experiments_.front()); });
    if (copy) {
        TRY(append(out, fmt::format("{{\"experiment\":{}}}\n", to_json(experiment_json(*copy)))));
    } else if (copy.error().kind() != ErrorKind::not_found) {  // deleted meanwhile
        return tl::unexpected(copy.error());
    }
    experiments_.pop_front();
    return {};
}

Result<> ExportLines::begin_run(std::string& out)
{
    const auto id = runs_.front();
    TRY(HistoryAccess::database(history_).read([&](db::Connection& reader) -> Result<> {
        const auto stored = TRY(find_run_copy(reader, id));
        if (!stored) return {};  // deleted meanwhile
        const auto experiment = TRY(read_experiment_copy(reader, stored->experiment));
        TRY(append(out,
                   fmt::format("{{\"run\":{},\"experiment\":{},\"metrics\":{{",
                               to_json(run_copy_json(stored->copy)),
                               to_json(experiment_json(experiment)))));
        open_ = id;
        return {};
    }));
    runs_.pop_front();
    keys_.clear();
    last_key_.reset();
    all_keys_ = false;
    first_key_ = true;
    return {};
}

// The next key with its first points, more of them, or the end of the line.
Result<> ExportLines::go_on(std::string& out)
{
    if (key_) return add_points(out);
    if (keys_.empty() && !all_keys_) {
        auto more = TRY(history_.latest_metrics(*open_, {last_key_, keys_at_a_time}));
        all_keys_ = more.size() < keys_at_a_time;
        if (!more.empty()) last_key_ = more.back().point.key;
        for (auto& metric : more)
            keys_.push_back(std::move(metric));
    }
    if (keys_.empty()) return end_run(out);
    key_ = take_front(keys_);
    given_ = 0;
    return add_points(out);
}

// Read again: who is slow in reading points keeps no more than some of them.
Result<> ExportLines::end_run(std::string& out)
{
    RunCopy copy;
    TRY(HistoryAccess::database(history_).read([&](db::Connection& reader) -> Result<> {
        if (auto stored = TRY(find_run_copy(reader, *open_))) copy = std::move(stored->copy);
        return {};
    }));
    TRY(append(out,
               fmt::format("}},\"inputs\":{},\"events\":{}}}\n",
                           to_json(inputs_json(copy.inputs)),
                           to_json(events_json(copy.events)))));
    open_.reset();
    return {};
}

Result<> ExportLines::add_points(std::string& out)
{
    std::string piece;
    if (given_ == 0) {
        const auto& latest = key_->point;
        piece = fmt::format("{}{}:{{\"latest\":{},\"count\":{},\"points\":[",
                            first_key_ ? "" : ",",
                            to_json(latest.key),
                            to_json(latest.text ? Json(*latest.text) : Json(latest.value)),
                            key_->count);
    }
    // No more than `count` said, though more may have come since.
    const auto left = static_cast<std::size_t>(key_->count - given_);
    const auto points = TRY(
        history_.metric_points(*open_, key_->point.key, given_, std::min(points_at_a_time, left)));
    auto given = given_;
    for (const auto& point : points) {
        if (given++ > 0) piece += ',';
        append_point(piece, point);
    }
    const bool all = points.empty() || given >= key_->count;
    if (all) piece += "]}";
    TRY(append(out, piece));
    first_key_ = false;
    given_ = given;
    if (all) key_.reset();
    return {};
}

Result<> ExportLines::add_model(std::string& out)
{
    TRY(HistoryAccess::database(history_).read([&](db::Connection& reader) -> Result<> {
        const auto copy = TRY(find_model_copy(reader, models_.front()));
        if (!copy) return {};
        const auto experiment = TRY(read_experiment_copy(reader, copy->model.experiment));
        return append(out,
                      fmt::format("{{\"logged_model\":{},\"experiment\":{}}}\n",
                                  to_json(model_copy_json(*copy)),
                                  to_json(experiment_json(experiment))));
    }));
    models_.pop_front();
    return {};
}

Result<> ExportLines::add_registered(std::string& out)
{
    TRY(HistoryAccess::database(history_).read([&](db::Connection& reader) -> Result<> {
        const auto copy = TRY(find_registered_copy(reader, registered_.front()));
        if (!copy) return {};
        return append(
            out, fmt::format("{{\"registered_model\":{}}}\n", to_json(registered_json(*copy))));
    }));
    registered_.pop_front();
    return {};
}

}  // namespace ponk::store
