// SPDX-License-Identifier: Apache-2.0
#include "store/history.hpp"
#include "store/history_impl.hpp"
#include "store/metric_row.hpp"
#include "store/tracking.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ponk::store {

using model::MetricPoint;

namespace {

// NaN, which compares with nothing, comes behind all numbers of its moment.
auto order_of(const MetricPoint& point)
{
    const bool nan = std::isnan(point.value);
    return std::tuple(point.time, point.step, nan, nan ? 0.0 : point.value);
}

}  // namespace

Result<std::vector<MetricPoint>> Tracking::metric_history(const std::string& id,
                                                          const std::string& key) const
{
    return history_.impl_->database->read(
        [&](db::Connection& reader) -> Result<std::vector<MetricPoint>> {
            std::vector<MetricPoint> points;
            auto run = TRY(reader.prepare("SELECT row FROM run WHERE id = ?"));
            run.bind(id);
            if (!TRY(run.step())) return points;
            TRY(read_points(reader, run.integer(0), key, {}, [&points](MetricPoint point) {
                if (!point.text) points.push_back(std::move(point));
            }));
            const auto before = [](const MetricPoint& a, const MetricPoint& b) {
                return order_of(a) < order_of(b);
            };
            const auto same = [](const MetricPoint& a, const MetricPoint& b) {
                return order_of(a) == order_of(b);
            };
            if (!std::is_sorted(points.begin(), points.end(), before))
                std::sort(points.begin(), points.end(), before);
            points.erase(std::unique(points.begin(), points.end(), same), points.end());
            return points;
        });
}

}  // namespace ponk::store
