// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/points/chunk_row.hpp"
#include "store/points/metric_row.hpp"
#include "store/points/points_by_key.hpp"

#include <optional>
#include <string>
#include <vector>

// Keys of a run and their points: rows of `metric` with their chunks. Used inside transactions.
namespace ponk::store {

// A key as it is when points have come behind those that are stored: what compaction stores, and
// what a read shows of points that are not compacted yet.
struct GrownKey {
    std::optional<OpenMetric> before;  // nullopt: nothing of it is stored
    LatestMetric latest;               // of all of them, with their number
    PointColumns added;                // those that it did not have, in the order of arrival
};
Result<GrownKey>
grow_key(db::Connection& connection, std::int64_t run, const PointsByKey::Key& points);

// Adds points to a run. One that is stored already, with the same step, time and value, is not
// added again. The latest of a key has the greatest step, then time, then value, where NaN counts
// as 0; where a text is among them, then arrival.
Result<> add_points(db::Connection& writer, std::int64_t run, const PointsByKey& points);

// The same in two steps. The first changes nothing and does what takes the time, so that nobody has
// to wait for it.
struct PointsPlan {
    struct Key {
        std::string key;
        std::optional<OpenMetric> before;  // nullopt: the run has no such key
        LatestMetric latest;               // then
        ChunkChange chunks;
    };
    std::vector<Key> keys;  // those that get points
};
Result<PointsPlan>
plan_points(db::Connection& connection, std::int64_t run, const PointsByKey& points);
// Whether the run's keys are as they were: nobody has added to them.
Result<bool> still_holds(db::Connection& connection, std::int64_t run, const PointsPlan& plan);
Result<> store_points(db::Connection& writer, std::int64_t run, const PointsPlan& plan);

}  // namespace ponk::store
