// SPDX-License-Identifier: Apache-2.0
#include "store/points/point_conversion.hpp"

#include "store/points/chunk_row.hpp"
#include "store/points/metric_row.hpp"

#include <utility>

namespace ponk::store {

namespace {

// Nullopt at the end.
Result<std::optional<std::int64_t>> next_key(db::Connection& connection)
{
    auto statement = TRY(connection.prepare("SELECT metric FROM point LIMIT 1"));
    if (!TRY(statement.step())) return std::optional<std::int64_t>();
    return std::optional(statement.integer(0));
}

Result<bool> fill(db::Statement& rows, PointColumns& points)
{
    while (points.size() < most_chunk_points) {
        if (!TRY(rows.step())) return false;
        model::MetricPoint point;
        point.step = rows.integer(0);
        point.time = rows.integer(1);
        point.value = number_of(rows, 2);
        point.text = rows.text_if_any(3);
        points.add(point);
    }
    return true;
}

Result<> convert_key(db::Connection& writer, std::int64_t metric)
{
    ChunkEncoder encoder;
    {
        auto rows = TRY(writer.prepare(
            "SELECT step, time, value, text FROM point WHERE metric = ? ORDER BY number"));
        rows.bind(metric);
        std::int64_t stored = 0;
        for (bool more = true; more;) {
            PointColumns points;
            more = TRY(fill(rows, points));
            if (points.empty()) break;
            const auto count = static_cast<std::int64_t>(points.size());
            TRY(store_chunks(writer,
                             metric,
                             TRY(plan_chunks(writer, metric, stored, std::move(points), encoder))));
            stored += count;
        }
    }
    auto remove = TRY(writer.prepare("DELETE FROM point WHERE metric = ?"));
    return remove.bind(metric).run();
}

}  // namespace

Result<> convert_old_points(db::Database& database)
{
    for (;;) {
        const auto metric = TRY(database.read(next_key));
        if (!metric) return {};
        TRY(database
                .write(db::Durability::process,
                       [&](db::Connection& writer) { return convert_key(writer, *metric); })
                .map_error(while_doing("bring points to the form of this version")));
    }
}

}  // namespace ponk::store
