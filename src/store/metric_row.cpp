// SPDX-License-Identifier: Apache-2.0
#include "store/metric_row.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace ponk::store {

using model::MetricPoint;

namespace {

// A key of the run while points are added to it.
struct Open {
    std::int64_t row = 0;
    LatestMetric latest;
};

// SQLite has no NaN: it is stored as NULL, which no other number is.
std::optional<double> number(double value)
{
    return std::isnan(value) ? std::nullopt : std::optional(value);
}

double number(const db::Statement& row, int column)
{
    return row.is_null(column) ? std::numeric_limits<double>::quiet_NaN() : row.real(column);
}

MetricPoint::Form form(const db::Statement& row, int column)
{
    return row.integer(column) != 0 ? MetricPoint::Form::list : MetricPoint::Form::single;
}

Result<Open> open_key(db::Connection& writer, std::int64_t run, const std::string& key)
{
    Open open;
    auto find = TRY(writer.prepare(
        "SELECT row, count, value, text, step, time, list FROM metric WHERE run = ? AND key = ?"));
    find.bind(run, key);
    if (TRY(find.step())) {
        open.row = find.integer(0);
        open.latest = {{key,
                        number(find, 2),
                        find.text_if_any(3),
                        find.integer(4),
                        find.integer(5),
                        form(find, 6)},
                       find.integer(1)};
        return open;
    }
    auto insert = TRY(
        writer.prepare("INSERT INTO metric(run, key, count, step, time) VALUES(?, ?, 0, 0, 0)"));
    TRY(insert.bind(run, key).run());
    open.row = writer.last_row();
    return open;
}

Result<> add_point(db::Statement& insert, Open& open, const MetricPoint& point)
{
    auto& latest = open.latest;
    ++latest.count;
    insert.bind(open.row, latest.count, point.step, point.time, number(point.value), point.text);
    TRY(insert.run());
    const auto order = [](const MetricPoint& p) { return std::tuple(p.step, p.time); };
    if (latest.count == 1 || order(point) >= order(latest.point)) latest.point = point;
    return {};
}

Result<> close_key(db::Connection& writer, const Open& open)
{
    const auto& point = open.latest.point;
    auto update = TRY(writer.prepare(
        "UPDATE metric SET count = ?, value = ?, text = ?, step = ?, time = ?, list = ?"
        " WHERE row = ?"));
    update.bind(open.latest.count,
                number(point.value),
                point.text,
                point.step,
                point.time,
                std::int64_t{point.form == MetricPoint::Form::list},
                open.row);
    return update.run();
}

}  // namespace

Result<std::uint64_t>
stored_offset(db::Connection& connection, std::int64_t run, const std::string& journal)
{
    auto statement =
        TRY(connection.prepare("SELECT stored FROM journal WHERE run = ? AND name = ?"));
    statement.bind(run, journal);
    return TRY(statement.step()) ? static_cast<std::uint64_t>(statement.integer(0)) : 0;
}

Result<>
append_points(db::Connection& writer, std::int64_t run, const std::vector<MetricPoint>& points)
{
    auto insert = TRY(writer.prepare("INSERT INTO point(metric, number, step, time, value, text)"
                                     " VALUES(?, ?, ?, ?, ?, ?)"));
    std::unordered_map<std::string_view, Open> open;
    for (const auto& point : points) {
        auto known = open.find(point.key);
        if (known == open.end())
            known = open.emplace(point.key, TRY(open_key(writer, run, point.key))).first;
        TRY(add_point(insert, known->second, point));
    }
    for (const auto& [key, metric] : open)
        TRY(close_key(writer, metric));
    return {};
}

Result<> store_batch(db::Connection& writer, std::int64_t run, const JournalBatch& batch)
{
    TRY(append_points(writer, run, batch.points));
    auto tag = TRY(writer.prepare("INSERT OR REPLACE INTO tag(run, key, value) VALUES(?, ?, ?)"));
    for (const auto& [key, value] : batch.tags)
        TRY(tag.bind(run, key, value).run());
    auto move =
        TRY(writer.prepare("INSERT OR REPLACE INTO journal(run, name, stored) VALUES(?, ?, ?)"));
    return move.bind(run, batch.journal, static_cast<std::int64_t>(batch.to)).run();
}

namespace {

LatestMetric latest_of(const db::Statement& row)
{
    return {{row.text(0),
             number(row, 1),
             row.text_if_any(2),
             row.integer(3),
             row.integer(4),
             form(row, 5)},
            row.integer(6)};
}

constexpr std::string_view columns = "SELECT key, value, text, step, time, list, count FROM metric";

// Fetches the lists that are shown as such.
Result<> add_lists(db::Connection& connection, std::int64_t run, std::vector<LatestMetric>& metrics)
{
    auto room = longest_lists;
    for (auto& latest : metrics) {
        if (latest.point.form != MetricPoint::Form::list || latest.count > longest_list) continue;
        room -= latest.count;
        if (room < 0) break;
        TRY(read_points(connection, run, latest.point.key, {}, [&latest](MetricPoint point) {
            latest.list.push_back(std::move(point));
        }));
    }
    return {};
}

}  // namespace

Result<std::vector<LatestMetric>>
read_latest(db::Connection& connection, std::int64_t run, const MetricRange& range)
{
    auto statement = TRY(connection.prepare(fmt::format(
        "{} WHERE run = ? AND key {} ORDER BY key", columns, range.after ? "> ?" : ">= ?")));
    statement.bind(run, range.after.value_or(""));
    std::vector<LatestMetric> all;
    while (all.size() < range.limit && TRY(statement.step()))
        all.push_back(latest_of(statement));
    TRY(add_lists(connection, run, all));
    return all;
}

Result<std::optional<LatestMetric>>
read_metric(db::Connection& connection, std::int64_t run, const std::string& key)
{
    auto statement = TRY(connection.prepare(fmt::format("{} WHERE run = ? AND key = ?", columns)));
    statement.bind(run, key);
    if (!TRY(statement.step())) return std::optional<LatestMetric>();
    return std::optional(latest_of(statement));
}

Result<> read_points(db::Connection& connection,
                     std::int64_t run,
                     const std::string& key,
                     const PointRange& range,
                     const OnPoint& on_point)
{
    auto statement =
        TRY(connection.prepare("SELECT point.value, point.text, point.step, point.time FROM metric"
                               " CROSS JOIN point ON point.metric = metric.row"
                               " WHERE metric.run = ? AND metric.key = ? AND point.number > ?"
                               " ORDER BY point.number"));
    statement.bind(run, key, range.after);
    for (auto left = range.limit; left > 0 && TRY(statement.step()); --left) {
        on_point({key,
                  number(statement, 0),
                  statement.text_if_any(1),
                  statement.integer(2),
                  statement.integer(3)});
    }
    return {};
}

}  // namespace ponk::store
