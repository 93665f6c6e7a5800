// SPDX-License-Identifier: Apache-2.0
#include "output/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace ponk::output {

namespace {

constexpr std::array<std::string_view, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> plain{"_", ".", ",", "-", "~", "=", "*", "#"};

// The mean of the finite values of each of `count` equal parts; NaN where there is none.
std::vector<double> means(std::span<const double> values, std::size_t count)
{
    std::vector<double> out;
    for (std::size_t i = 0; i < count; ++i) {
        const auto begin = i * values.size() / count;
        const auto end = (i + 1) * values.size() / count;
        double sum = 0;
        double finite = 0;
        for (const double value : values.subspan(begin, end - begin)) {
            if (!std::isfinite(value)) continue;
            ++finite;
            sum += (value - sum) / finite;  // a running mean cannot overflow as a sum can
        }
        out.push_back(finite > 0 ? sum : std::numeric_limits<double>::quiet_NaN());
    }
    return out;
}

}  // namespace

std::string sparkline(std::span<const double> values, int width, const Terminal& terminal)
{
    const auto count = std::min(values.size(), static_cast<std::size_t>(std::max(width, 0)));
    const auto points = means(values, count);
    double lowest = std::numeric_limits<double>::infinity();
    double highest = -lowest;
    for (const double point : points) {
        if (std::isnan(point)) continue;
        lowest = std::min(lowest, point);
        highest = std::max(highest, point);
    }
    if (lowest > highest) return {};
    const auto& levels = terminal.utf8 ? blocks : plain;
    std::string out;
    for (const double point : points) {
        if (std::isnan(point)) {
            out += ' ';
            continue;
        }
        // Halves, so that the distance of two huge numbers stays finite; a flat line runs low.
        const double span = highest / 2 - lowest / 2;
        const double place = span > 0 ? (point / 2 - lowest / 2) / span : 0.0;
        out += levels.at(static_cast<std::size_t>(std::lround(place * 7)));
    }
    return out;
}

}  // namespace ponk::output
