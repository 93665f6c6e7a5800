// SPDX-License-Identifier: Apache-2.0
#include "cli/metric_series.hpp"

#include "base/text.hpp"

#include <cmath>

namespace ponk::cli {

output::Series series_of(const std::string& name, const Json& metric, double scale)
{
    output::Series series{.name = printable(name), .y = {}, .x = {}};
    if (!metric["points"].is_array()) return series;
    double last_step = -HUGE_VAL;
    for (const Json& point : metric["points"].as_array()) {
        if (!point.is_array() || point.as_array().size() < 3) continue;
        const Json& value = point.as_array()[2];
        const double step = point.as_array()[0].is_number() ? point.as_array()[0].as_double() : 0;
        if (!value.is_number() || step < last_step) continue;
        last_step = step;
        series.x.push_back(step);
        series.y.push_back(value.as_double() * scale);
    }
    return series;
}

}  // namespace ponk::cli
