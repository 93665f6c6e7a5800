// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/points/tail_reader.hpp"
#include "store/tracking/tracking.hpp"

#include <cstdint>
#include <vector>

namespace ponk::store {

// The runs of these rows, in this order, with all that belongs to them: a few statements, however
// many runs there are. Nothing when several have more than `most` bytes of tags and parameters
// together; those of one run alone count as bytes of the answer. Used inside transactions.
Result<std::optional<std::vector<TrackedRun>>>
read_tracked_runs(db::Connection& connection,
                  const TailReader& tail,
                  const std::vector<std::int64_t>& rows,
                  std::size_t most);

}  // namespace ponk::store
