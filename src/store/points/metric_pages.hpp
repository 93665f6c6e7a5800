// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/points/metric_row.hpp"
#include "store/records.hpp"

#include <string>

namespace ponk::store {

// Numbers of a key, ordered by time, step and value, behind those of the page before. Reads the
// chunks of the page's times alone. `invalid_argument` for an `after` that no page gave.
Result<MetricPage> read_page(db::Connection& connection,
                             const OpenMetric& metric,
                             const std::string& after,
                             std::size_t limit);

}  // namespace ponk::store
