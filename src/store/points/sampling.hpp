// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/points/run_points.hpp"
#include "store/records.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ponk::store {

// Which of `count` points in their order are taken when at most `most` shall be: all are dealt to
// `most` groups of neighbours, the first groups one larger where that does not come out even, and
// the first of each is taken; the last of all takes the place of the last one.
std::vector<std::int64_t> sampled_places(std::int64_t count, std::int64_t most);

// Numbers of a key, ordered by step, time and value, at most `most` of them by that rule. Chunks
// that do not overlap are counted without being read.
Result<std::vector<model::MetricPoint>> sample_points(db::Connection& connection,
                                                      const KeyPoints& key,
                                                      const std::optional<StepRange>& range,
                                                      std::int64_t most);

}  // namespace ponk::store
