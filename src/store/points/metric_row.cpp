// SPDX-License-Identifier: Apache-2.0
#include "store/points/metric_row.hpp"

#include "store/points/series.hpp"
#include "store/rows/tag_room.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace ponk::store {

using model::MetricPoint;

namespace {

std::optional<double> number(double value)
{
    return std::isnan(value) ? std::nullopt : std::optional(value);
}

MetricPoint::Form form(const db::Statement& row, int column)
{
    return row.integer(column) != 0 ? MetricPoint::Form::list : MetricPoint::Form::single;
}

constexpr std::string_view columns =
    "SELECT key, value, text, step, time, list, count, row, low, high FROM metric";

std::optional<NumberRange> range_of(const db::Statement& row)
{
    if (row.is_null(8)) return std::nullopt;
    return NumberRange{row.real(8), row.real(9)};
}

LatestMetric latest_of(const db::Statement& row)
{
    return {{row.text(0),
             number_of(row, 1),
             row.text_if_any(2),
             row.integer(3),
             row.integer(4),
             form(row, 5)},
            row.integer(6),
            range_of(row),
            {},
            row.integer(7)};
}

std::optional<double> low_of(const LatestMetric& latest)
{
    return latest.range ? std::optional(latest.range->low) : std::nullopt;
}
std::optional<double> high_of(const LatestMetric& latest)
{
    return latest.range ? std::optional(latest.range->high) : std::nullopt;
}

}  // namespace

double number_of(const db::Statement& row, int column)
{
    return row.is_null(column) ? std::numeric_limits<double>::quiet_NaN() : row.real(column);
}

Result<std::optional<OpenMetric>>
find_open_metric(db::Connection& connection, std::int64_t run, const std::string& key)
{
    static const auto select = fmt::format("{} WHERE run = ? AND key = ?", columns);
    auto statement = TRY(connection.prepare(select));
    statement.bind(run, key);
    if (!TRY(statement.step())) return std::optional<OpenMetric>();
    return std::optional(OpenMetric{statement.integer(7), latest_of(statement)});
}

Result<> write_latest(db::Connection& writer, const OpenMetric& metric)
{
    const auto& point = metric.latest.point;
    auto update = TRY(writer.prepare(
        "UPDATE metric SET count = ?, value = ?, text = ?, step = ?, time = ?, list = ?,"
        " low = ?, high = ? WHERE row = ?"));
    update.bind(metric.latest.count,
                number(point.value),
                point.text,
                point.step,
                point.time,
                std::int64_t{point.form == MetricPoint::Form::list},
                low_of(metric.latest),
                high_of(metric.latest),
                metric.row);
    return update.run();
}

Result<std::uint64_t>
stored_offset(db::Connection& connection, std::int64_t run, const std::string& journal)
{
    auto statement =
        TRY(connection.prepare("SELECT stored FROM journal WHERE run = ? AND name = ?"));
    statement.bind(run, journal);
    return TRY(statement.step()) ? static_cast<std::uint64_t>(statement.integer(0)) : 0;
}

Result<std::size_t> store_batch(db::Connection& writer, std::int64_t run, const JournalBatch& batch)
{
    TRY(add_points(writer, run, PointsByKey(batch.points)));
    auto tag = TRY(writer.prepare("INSERT OR REPLACE INTO tag(run, key, value) VALUES(?, ?, ?)"));
    auto room = batch.tags.empty() ? TagRoom() : TRY(TagRoom::of_run(writer, run));
    std::size_t left_out = 0;
    for (const auto& [key, value] : batch.tags) {
        if (room.take(key, value)) {
            TRY(tag.bind(run, key, value).run());
        } else {
            ++left_out;
        }
    }
    auto move =
        TRY(writer.prepare("INSERT OR REPLACE INTO journal(run, name, stored) VALUES(?, ?, ?)"));
    TRY(move.bind(run, batch.journal, static_cast<std::int64_t>(batch.to)).run());
    return left_out;
}

Result<std::vector<LatestMetric>>
read_compacted(db::Connection& connection, std::int64_t run, const MetricRange& range)
{
    auto statement = TRY(connection.prepare(fmt::format(
        "{} WHERE run = ? AND key {} ORDER BY key", columns, range.after ? "> ?" : ">= ?")));
    statement.bind(run, range.after.value_or(""));
    std::vector<LatestMetric> all;
    while (all.size() < range.limit && TRY(statement.step()))
        all.push_back(latest_of(statement));
    return all;
}

}  // namespace ponk::store
