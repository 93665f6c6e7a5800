// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/run.hpp"
#include "store/points/point_columns.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <tuple>

namespace ponk::store {

// A number among the points of a key, for the orders in which MLflow's clients get them.
struct OrderedPoint {
    std::int64_t step = 0;
    std::int64_t time = 0;
    double value = 0;

    OrderedPoint() = default;
    OrderedPoint(const PointColumns& points, std::size_t at)
        : step(points.steps[at]), time(points.times[at]), value(points.values[at])
    {
    }
    [[nodiscard]] auto by_step() const { return std::tuple(step, time, ValueOrder(value)); }
    [[nodiscard]] auto by_time() const { return std::tuple(time, step, ValueOrder(value)); }
    [[nodiscard]] model::MetricPoint with_key(const std::string& key) const
    {
        return {key, value, std::nullopt, step, time};
    }
};

}  // namespace ponk::store
