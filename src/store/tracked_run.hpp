// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/tracking.hpp"

#include <cstdint>
#include <vector>

namespace ponk::store {

// The runs of these rows, in this order, with all that belongs to them: a few statements, however
// many runs there are. Used inside transactions.
Result<std::vector<TrackedRun>> read_tracked_runs(db::Connection& connection,
                                                  const std::vector<std::int64_t>& rows);

}  // namespace ponk::store
