// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/points/metric_row.hpp"
#include "store/points/point_columns.hpp"

namespace ponk::store {

// Of `points` those that the key does not have yet, each once. Free where each comes behind all
// others by step and time, as they do in nearly every training; else the chunks are read that may
// have one of them.
Result<PointColumns>
only_new(db::Connection& connection, const OpenMetric& metric, const PointColumns& points);

}  // namespace ponk::store
