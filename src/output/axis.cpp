// SPDX-License-Identifier: Apache-2.0
#include "output/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ponk::output {

namespace {

// 1, 2 or 5 times a power of ten, not below `rough`.
double round_step(double rough)
{
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= rough * 0.999) return factor * power;
    }
    return 10.0 * power;
}

double unit_for(double magnitude)
{
    if (magnitude > 1e290) return 1e-30;
    if (magnitude > 0 && magnitude < 1e-290) return 1e40;
    return 1;
}

// Factors times powers of ten from lowest to highest.
std::vector<double>
powers(double lowest, double highest, int every, std::initializer_list<double> factors)
{
    std::vector<double> ticks;
    const int last = static_cast<int>(std::floor(std::log10(highest) + 1e-9));
    for (int i = static_cast<int>(std::floor(std::log10(lowest))); i <= last; ++i) {
        if (i % every != 0) continue;
        for (const double factor : factors) {
            const double tick = factor * std::pow(10.0, i);
            if (std::isfinite(tick) && tick >= lowest * (1 - 1e-9) && tick <= highest * (1 + 1e-9))
                ticks.push_back(tick);
        }
    }
    return ticks;
}

// As many as wanted and not many more; none where even 1, 2 and 5 are too coarse.
std::vector<double> logarithmic_ticks(double lowest, double highest, int wanted)
{
    const double decades = std::log10(highest) - std::log10(lowest);
    if (decades >= 2) {
        // The finest that is not much more than was wanted.
        for (const int every : {1, 2, 3, 5, 10, 20, 30, 50, 100}) {
            if (decades / every <= wanted + 1) return powers(lowest, highest, every, {1.0});
        }
        return powers(lowest, highest, 200, {1.0});
    }
    auto ticks = powers(lowest, highest, 1, {1.0, 2.0, 5.0});
    if (ticks.size() < 2) ticks.clear();
    return ticks;
}

}  // namespace

double Axis::inner(double value) const
{
    return scale_ == Scale::logarithmic ? std::log10(value) : value * unit_;
}

double Axis::place(double value) const
{
    return (inner(value) - low_) / (high_ - low_);
}

Axis make_axis(double lowest, double highest, int wanted, Scale scale)
{
    wanted = std::max(wanted, 1);
    Axis axis;
    // A flat line stands in the middle; the room around it is small beside the value itself.
    axis.unit_ = unit_for(std::max(std::fabs(lowest), std::fabs(highest)));
    double low = lowest * axis.unit_;
    double high = highest * axis.unit_;
    const double magnitude = std::max(std::fabs(low), std::fabs(high));
    const bool flat = high - low < std::max(magnitude * 1e-9, 1e-300);
    if (flat) {
        const double room = magnitude > 0 ? magnitude * 0.1 : 1.0;
        low -= room;
        high += room;
    }
    axis.step_ = round_step((high - low) / wanted);
    const double first = std::floor(low / axis.step_ + 1e-6);
    const double last = std::ceil(high / axis.step_ - 1e-6);
    for (double i = first; i <= last; ++i) {
        const double tick = i * axis.step_ / axis.unit_;
        if (std::isfinite(tick) && (axis.ticks.empty() || tick > axis.ticks.back()))
            axis.ticks.push_back(tick);
    }
    axis.low_ = first * axis.step_;
    axis.high_ = last * axis.step_;
    if (scale == Scale::linear) return axis;
    axis.scale_ = scale;
    axis.low_ = std::log10(lowest) - (flat ? 0.1 : 0);
    axis.high_ = std::log10(highest) + (flat ? 0.1 : 0);
    if (auto ticks = logarithmic_ticks(lowest, highest, wanted); !ticks.empty()) {
        axis.ticks = std::move(ticks);
        axis.step_ = 0;
    } else {
        // Less than a decade: the ticks of a linear axis, where the logarithm has them.
        std::erase_if(axis.ticks, [&axis](double tick) {
            return tick <= 0 || axis.place(tick) < 0 || axis.place(tick) > 1;
        });
    }
    return axis;
}

std::string Axis::label(double tick) const
{
    // A tick of a logarithmic axis is a round number by itself.
    if (step_ == 0) return fmt::format("{:.6g}", tick);
    const double step = step_ / unit_;
    const bool zero = std::fabs(tick) < step / 2;
    double magnitude = 0;
    for (const double one : ticks)
        magnitude = std::max(magnitude, std::fabs(one));
    if (magnitude >= 1e6 || magnitude < 1e-3) {
        if (zero) return "0";
        const double digits =
            std::floor(std::log10(magnitude * unit_)) - std::floor(std::log10(step_));
        return fmt::format("{:.{}e}", tick, std::clamp(static_cast<int>(digits), 0, 9));
    }
    const auto decimals = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 9);
    return fmt::format("{:.{}f}", zero ? 0.0 : tick, decimals);
}

}  // namespace ponk::output
