// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output/axis.hpp"
#include "output/terminal.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ponk::output {

// One curve. NaN and infinities in `y` are gaps. Without `x` the points are 0, 1, 2…; with it,
// both have the same length and x does not decrease.
struct Series {
    std::string name;
    std::vector<double> y;
    std::vector<double> x = {};
};

struct ChartOptions {
    Terminal terminal = {.width = 80};
    int height = 12;  // lines of the plot itself
    std::string title = {};
    std::string x_label = "step";
    // How a number below the plot is written; without it as a number.
    std::function<std::string(double)> x_text = {};
    // Values that a logarithm has no place for are gaps.
    Scale scale = Scale::linear;
};

// So many curves are told apart by their marks alone.
std::size_t most_marks();

// Curves with axes and one line per curve: lowest, highest and last value. Empty without points.
std::string draw_chart(std::span<const Series> series, const ChartOptions& options);

// A curve of `width` characters for a table cell. Empty without points.
std::string sparkline(std::span<const double> values, int width, const Terminal& terminal);

}  // namespace ponk::output
