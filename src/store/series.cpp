// SPDX-License-Identifier: Apache-2.0
#include "store/series.hpp"

#include "store/metric_row.hpp"
#include "store/point_filter.hpp"

#include <cmath>
#include <tuple>

namespace ponk::store {

using model::MetricPoint;

namespace {

Result<OpenMetric> open_metric(db::Connection& writer, std::int64_t run, const std::string& key)
{
    if (auto known = TRY(find_open_metric(writer, run, key))) return *std::move(known);
    auto insert = TRY(
        writer.prepare("INSERT INTO metric(run, key, count, step, time) VALUES(?, ?, 0, 0, 0)"));
    TRY(insert.bind(run, key).run());
    OpenMetric made;
    made.row = writer.last_row();
    return made;
}

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
    latest.count += static_cast<std::int64_t>(points.size());
}

Result<> add_to_key(db::Connection& writer,
                    std::int64_t run,
                    const PointsByKey::Key& key,
                    ChunkEncoder& encoder)
{
    if (key.points.empty()) return {};
    auto open = TRY(open_metric(writer, run, key.key));
    auto points = TRY(only_new(writer, open, key.points));
    if (points.empty()) return {};
    const auto stored = open.latest.count;
    take_latest(open.latest, key.key, points);
    TRY(append_chunks(writer, open.row, stored, std::move(points), encoder));
    return write_latest(writer, open);
}

}  // namespace

Result<> add_points(db::Connection& writer, std::int64_t run, const PointsByKey& points)
{
    ChunkEncoder encoder;
    for (const auto& key : points.keys())
        TRY(add_to_key(writer, run, key, encoder));
    return {};
}

}  // namespace ponk::store
