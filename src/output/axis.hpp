// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ponk::output {

// A range that ends on round numbers, and those in between.
struct Axis {
    double low = 0;
    double high = 1;
    std::vector<double> ticks;
    double step = 1;

    // The place of `value` between low (0) and high (1).
    [[nodiscard]] double place(double value) const { return (value - low) / (high - low); }
    // A tick with as many digits as tell it from its neighbours.
    [[nodiscard]] std::string label(double tick) const;
};

// About `wanted` ticks over lowest…highest, both finite.
Axis make_axis(double lowest, double highest, int wanted);

}  // namespace ponk::output
