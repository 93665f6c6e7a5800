// SPDX-License-Identifier: Apache-2.0
#include "output/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ponk::output {

namespace {

constexpr double largest = 1e300;  // differences of such numbers are still finite

// 1, 2 or 5 times a power of ten, not below `rough`.
double round_step(double rough)
{
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= rough * 0.999) return factor * power;
    }
    return 10.0 * power;
}

}  // namespace

Axis make_axis(double lowest, double highest, int wanted)
{
    lowest = std::clamp(lowest, -largest, largest);
    highest = std::clamp(highest, -largest, largest);
    // A flat line stands in the middle; the room around it is small beside the value itself.
    const double magnitude = std::max(std::fabs(lowest), std::fabs(highest));
    const double smallest_span = std::max(magnitude * 1e-9, 1e-300);
    if (highest - lowest < smallest_span) {
        const double room = magnitude > 0 ? magnitude * 0.1 : 1.0;
        lowest -= room;
        highest += room;
    }
    Axis axis;
    axis.step = round_step((highest - lowest) / std::max(wanted, 1));
    const double first = std::floor(lowest / axis.step + 1e-6);
    const double last = std::ceil(highest / axis.step - 1e-6);
    axis.low = first * axis.step;
    axis.high = last * axis.step;
    for (double i = first; i <= last; ++i)
        axis.ticks.push_back(i * axis.step);
    return axis;
}

std::string Axis::label(double tick) const
{
    const bool zero = std::fabs(tick) < step / 2;
    const double magnitude = std::max(std::fabs(low), std::fabs(high));
    if (magnitude >= 1e6 || magnitude < 1e-3) {
        if (zero) return "0";
        const double digits = std::floor(std::log10(magnitude)) - std::floor(std::log10(step));
        return fmt::format("{:.{}e}", tick, std::clamp(static_cast<int>(digits), 0, 9));
    }
    const auto decimals = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 9);
    return fmt::format("{:.{}f}", zero ? 0.0 : tick, decimals);
}

}  // namespace ponk::output
