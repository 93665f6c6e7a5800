// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/chunk_row.hpp"
#include "store/points_by_key.hpp"

// Keys of a run and their points: rows of `metric` with their chunks. Used inside transactions.
namespace ponk::store {

// Adds points to a run. One that is stored already, with the same step, time and value, is not
// added again. The latest of a key has the greatest step, then time, then value, where NaN counts
// as 0; where a text is among them, then arrival.
Result<> add_points(db::Connection& writer, std::int64_t run, const PointsByKey& points);

}  // namespace ponk::store
