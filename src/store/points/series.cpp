// SPDX-License-Identifier: Apache-2.0
#include "store/points/series.hpp"

#include "store/points/metric_row.hpp"
#include "store/points/point_filter.hpp"

#include <cmath>
#include <tuple>

namespace ponk::store {

using model::MetricPoint;

namespace {

// What decides which point is the latest.
struct Standing {
    std::int64_t step = 0;
    std::int64_t time = 0;
    double value = 0;  // NaN counts as 0
    bool text = false;

    explicit Standing(const MetricPoint& point)
        : step(point.step), time(point.time), value(std::isnan(point.value) ? 0 : point.value),
          text(point.text.has_value())
    {
    }
    Standing(const PointColumns& points, std::size_t at)
        : step(points.steps[at]), time(points.times[at]),
          value(std::isnan(points.values[at]) ? 0 : points.values[at]), text(points.is_text(at))
    {
    }
    // Of a point that arrived behind the other one.
    [[nodiscard]] bool is_later(const Standing& than) const
    {
        const auto when = std::tuple(step, time);
        const auto other = std::tuple(than.step, than.time);
        if (when != other) return when > other;
        return text || than.text || value > than.value;
    }
};

void take_latest(LatestMetric& latest, const std::string& key, const PointColumns& points)
{
    std::optional<std::size_t> best;
    if (latest.count == 0) best = 0;
    auto standing = best ? Standing(points, 0) : Standing(latest.point);
    for (std::size_t i = best ? 1 : 0; i < points.size(); ++i) {
        const Standing next(points, i);
        if (!next.is_later(standing)) continue;
        standing = next;
        best = i;
    }
    if (best) latest.point = points.point(key, *best);
    for (std::size_t i = 0; latest.range && i < points.size(); ++i) {
        if (!points.is_text(i)) latest.range->take(points.values[i]);
    }
    latest.point.value += 0.0;  // the table has no -0.0
    latest.count += static_cast<std::int64_t>(points.size());
}

// Nullopt when all of them are stored already.
Result<std::optional<PointsPlan::Key>> plan_key(db::Connection& connection,
                                                std::int64_t run,
                                                const PointsByKey::Key& key,
                                                ChunkEncoder& encoder)
{
    auto grown = TRY(grow_key(connection, run, key));
    if (grown.added.empty()) return std::optional<PointsPlan::Key>();
    const auto open = grown.before.value_or(OpenMetric());
    auto chunks =
        TRY(plan_chunks(connection, open.row, open.latest.count, std::move(grown.added), encoder));
    return std::optional(PointsPlan::Key{
        key.key, std::move(grown.before), std::move(grown.latest), std::move(chunks)});
}

Result<std::int64_t> make_metric(db::Connection& writer, std::int64_t run, const std::string& key)
{
    auto insert = TRY(writer.prepare("INSERT INTO metric(run, key, count, step, time, low, high)"
                                     " VALUES(?, ?, 0, 0, 0, 9e999, -9e999)"));
    TRY(insert.bind(run, key).run());
    return writer.last_row();
}

Result<> store_key(db::Connection& writer, std::int64_t run, const PointsPlan::Key& plan)
{
    const auto row = plan.before ? plan.before->row : TRY(make_metric(writer, run, plan.key));
    TRY(store_chunks(writer, row, plan.chunks));
    return write_latest(writer, {row, plan.latest});
}

}  // namespace

Result<GrownKey>
grow_key(db::Connection& connection, std::int64_t run, const PointsByKey::Key& points)
{
    GrownKey grown;
    grown.before = TRY(find_open_metric(connection, run, points.key));
    if (grown.before) grown.latest = grown.before->latest;
    grown.added = TRY(only_new(connection, grown.before.value_or(OpenMetric()), points.points));
    if (!grown.added.empty()) take_latest(grown.latest, points.key, grown.added);
    return grown;
}

Result<> add_points(db::Connection& writer, std::int64_t run, const PointsByKey& points)
{
    ChunkEncoder encoder;
    for (const auto& key : points.keys()) {
        if (const auto plan = TRY(plan_key(writer, run, key, encoder)))
            TRY(store_key(writer, run, *plan));
    }
    return {};
}

Result<PointsPlan>
plan_points(db::Connection& connection, std::int64_t run, const PointsByKey& points)
{
    PointsPlan plan;
    ChunkEncoder encoder;
    for (const auto& key : points.keys()) {
        if (auto planned = TRY(plan_key(connection, run, key, encoder)))
            plan.keys.push_back(*std::move(planned));
    }
    return plan;
}

Result<bool> still_holds(db::Connection& connection, std::int64_t run, const PointsPlan& plan)
{
    // The number of its points only grows as long as a key is there.
    for (const auto& [key, before, latest, chunks] : plan.keys) {
        const auto now = TRY(find_open_metric(connection, run, key));
        if (now.has_value() != before.has_value()) return false;
        if (now && (now->row != before->row || now->latest.count != before->latest.count))
            return false;
    }
    return true;
}

Result<> store_points(db::Connection& writer, std::int64_t run, const PointsPlan& plan)
{
    for (const auto& key : plan.keys)
        TRY(store_key(writer, run, key));
    return {};
}

}  // namespace ponk::store
