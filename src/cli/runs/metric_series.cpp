// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/metric_series.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ponk::cli {
namespace {

// A number, also one that JSON has no word for; nothing for a text.
std::optional<double> number_of(const Json& value)
{
    if (value.is_number()) return value.as_double();
    if (!value.is_string()) return std::nullopt;
    if (value.as_string() == "NaN") return std::nan("");
    if (value.as_string() == "Infinity") return HUGE_VAL;
    if (value.as_string() == "-Infinity") return -HUGE_VAL;
    return std::nullopt;
}

struct Point {
    double step = 0;
    double time = 0;
    double value = 0;
};

std::vector<Point> points_of(const Json& metric)
{
    std::vector<Point> points;
    if (!metric["points"].is_array()) return points;
    for (const Json& point : metric["points"].as_array()) {
        if (!point.is_array() || point.as_array().size() < 3) continue;
        const auto& parts = point.as_array();
        const auto value = number_of(parts[2]);
        if (!value) continue;
        points.push_back({.step = parts[0].is_number() ? parts[0].as_double() : 0,
                          .time = parts[1].is_number() ? parts[1].as_double() : 0,
                          .value = *value});
    }
    return points;
}

double x_of(const Point& point, const CurveOptions& options)
{
    if (options.x == ChartX::step) return point.step;
    return point.time - (options.x == ChartX::time ? static_cast<double>(options.origin) : 0);
}

}  // namespace

output::Series series_of(const std::string& name, const Json& metric, double scale)
{
    output::Series series{.name = printable(name), .y = {}, .x = {}};
    double last_step = -HUGE_VAL;
    for (const Point& point : points_of(metric)) {
        if (point.step < last_step) continue;
        last_step = point.step;
        series.x.push_back(point.step);
        series.y.push_back(point.value * scale);
    }
    return series;
}

bool has_steps(const output::Series& series)
{
    return !series.x.empty() && series.x.front() < series.x.back();
}

std::vector<double> smoothed(const std::vector<double>& values, double weight)
{
    std::vector<double> means;
    means.reserve(values.size());
    double mean = 0;
    double share = 0;  // of all weights so far
    for (const double value : values) {
        if (!std::isfinite(value)) {
            means.push_back(value);
            continue;
        }
        share = weight * share + (1 - weight);
        // By differences of halves, so that the largest numbers do not overflow.
        mean += (value / 2 - mean) * ((1 - weight) / share);
        means.push_back(mean * 2);
    }
    return means;
}

void sort_points(Json& metric, ChartX x)
{
    Json* points = metric.is_object() ? metric.as_object().find("points") : nullptr;
    if (points == nullptr || !points->is_array()) return;
    const std::size_t place = x == ChartX::step ? 0 : 1;
    std::ranges::stable_sort(points->as_array(), {}, [place](const Json& point) {
        const bool known = point.is_array() && place < point.as_array().size() &&
                           point.as_array()[place].is_number();
        return known ? point.as_array()[place].as_double() : 0.0;
    });
}

JsonArray means_of(const Json& metric, double weight)
{
    JsonArray means;
    std::vector<double> values;
    if (!metric["points"].is_array()) return means;
    for (const Json& point : metric["points"].as_array()) {
        const bool whole = point.is_array() && point.as_array().size() >= 3;
        const auto value = whole ? number_of(point.as_array()[2]) : std::nullopt;
        means.push_back(value ? Json(*value) : Json());
        values.push_back(value.value_or(std::nan("")));
    }
    const auto smooth = smoothed(values, weight);
    for (std::size_t i = 0; i < means.size(); ++i)
        if (!means[i].is_null()) means[i] = smooth[i];
    return means;
}

output::Series curve_of(std::string name, const Json& metric, const CurveOptions& options)
{
    auto points = points_of(metric);
    std::ranges::stable_sort(
        points, {}, [&options](const Point& point) { return x_of(point, options); });
    output::Series series{.name = std::move(name), .y = {}, .x = {}};
    for (const Point& point : points) {
        series.x.push_back(x_of(point, options));
        series.y.push_back(point.value);
    }
    if (options.smooth > 0) series.y = smoothed(series.y, options.smooth);
    return series;
}

}  // namespace ponk::cli
