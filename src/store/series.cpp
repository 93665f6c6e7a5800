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

void take_latest(LatestMetric& latest, const std::string& key, const PointColumns& points)
{
    for (std::size_t i = 0; i < points.size(); ++i) {
        // Most come in their order; only those that may be the latest are looked at closely.
        if (latest.count > 0 && std::tuple(points.steps[i], points.times[i]) <
                                    std::tuple(latest.point.step, latest.point.time))
            continue;
        auto point = points.point(key, i);
        if (latest.count == 0 || is_later(point, latest.point)) latest.point = std::move(point);
        latest.count = std::max<std::int64_t>(latest.count, 1);
    }
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
    const auto added = static_cast<std::int64_t>(points.size());
    take_latest(open.latest, key.key, points);
    open.latest.count = stored + added;
    TRY(append_chunks(writer, open.row, stored, std::move(points), encoder));
    return write_latest(writer, open);
}

}  // namespace

bool is_later(const MetricPoint& point, const MetricPoint& than)
{
    const auto when = [](const MetricPoint& p) { return std::tuple(p.step, p.time); };
    if (when(point) != when(than)) return when(point) > when(than);
    if (point.text || than.text) return true;
    const auto number = [](double value) { return std::isnan(value) ? 0 : value; };
    return number(point.value) > number(than.value);
}

Result<> add_points(db::Connection& writer, std::int64_t run, const PointsByKey& points)
{
    ChunkEncoder encoder;
    for (const auto& key : points.keys())
        TRY(add_to_key(writer, run, key, encoder));
    return {};
}

}  // namespace ponk::store
