// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "output/chart.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ponk::cli {

// The points of a metric, as GET /runs/RUN/metrics tells them, for a chart. Steps that go back are
// left out; NaN and infinities are gaps.
output::Series series_of(const std::string& name, const Json& metric, double scale = 1);

// Whether a curve goes anywhere: one step alone is a value, not a curve.
bool has_steps(const output::Series& series);

// What a chart counts below: steps, milliseconds since `origin`, or since 1970.
enum class ChartX { step, time, wall };
struct CurveOptions {
    ChartX x = ChartX::step;
    std::int64_t origin = 0;
    double smooth = 0;  // 0: as they are; towards 1: ever more
};

// Puts the points of a metric into the order of x.
void sort_points(Json& metric, ChartX x);
// The smoothed value of each point, in their order; null for a text.
JsonArray means_of(const Json& metric, double weight);

// All numbers of a metric in the order of x.
output::Series curve_of(std::string name, const Json& metric, const CurveOptions& options);

// The mean of each value and those before it, which count by `weight` less with each one; the first
// ones are not drawn towards 0. What is not a number stays as it is and counts for nothing.
std::vector<double> smoothed(const std::vector<double>& values, double weight);

}  // namespace ponk::cli
