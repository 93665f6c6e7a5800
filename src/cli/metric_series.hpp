// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "output/chart.hpp"

#include <string>

namespace ponk::cli {

// The points of a metric, as GET /runs/RUN/metrics tells them, for a chart. Steps that go back are
// left out.
output::Series series_of(const std::string& name, const Json& metric, double scale = 1);

}  // namespace ponk::cli
