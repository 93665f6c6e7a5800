// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/points/run_points.hpp"
#include "store/records.hpp"

#include <string>

namespace ponk::store {

// Numbers of a key, ordered by time, step and value, behind those of the page before. Of its chunks
// it reads those of the page's times alone. `invalid_argument` for an `after` that no page gave.
Result<MetricPage> read_page(db::Connection& connection,
                             const KeyPoints& key,
                             const std::string& after,
                             std::size_t limit);

}  // namespace ponk::store
