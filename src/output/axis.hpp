// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ponk::output {

enum class Scale { linear, logarithmic };

// A range of values and the round numbers in it.
class Axis {
public:
    // Values, lowest first.
    std::vector<double> ticks;

    // The place of a finite `value` between the lower end (0) and the upper end (1); below 0 or
    // above 1 outside of them. On a logarithmic axis the value is above 0.
    [[nodiscard]] double place(double value) const;
    // A tick with as many digits as tell it from its neighbours.
    [[nodiscard]] std::string label(double tick) const;

private:
    friend Axis make_axis(double lowest, double highest, int wanted, Scale scale);
    [[nodiscard]] double inner(double value) const;

    // All of this in inner numbers: values times `unit_`, or their logarithms.
    double low_ = 0;
    double high_ = 1;
    double step_ = 1;
    // Keeps differences of the largest and of the smallest numbers finite and apart.
    double unit_ = 1;
    Scale scale_ = Scale::linear;
};

// About `wanted` ticks over lowest…highest, both finite, and above 0 on a logarithmic scale. A
// linear axis ends on round numbers, a logarithmic one on the given ones.
Axis make_axis(double lowest, double highest, int wanted, Scale scale = Scale::linear);

}  // namespace ponk::output
