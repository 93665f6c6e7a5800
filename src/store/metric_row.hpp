// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/records.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

// Rows of the tables `metric`, `point` and `journal`. Used inside transactions.
namespace ponk::store {

Result<std::uint64_t>
stored_offset(db::Connection& connection, std::int64_t run, const std::string& journal);
Result<> store_batch(db::Connection& writer, std::int64_t run, const JournalBatch& batch);
Result<> append_points(db::Connection& writer,
                       std::int64_t run,
                       const std::vector<model::MetricPoint>& points);
Result<std::vector<LatestMetric>>
read_latest(db::Connection& connection, std::int64_t run, const MetricRange& range = {});
Result<std::optional<LatestMetric>>
read_metric(db::Connection& connection, std::int64_t run, const std::string& key);

// Which points of a key: those behind the first `after`, at most `limit`.
struct PointRange {
    std::int64_t after = 0;
    std::int64_t limit = std::numeric_limits<std::int64_t>::max();
};
using OnPoint = std::function<void(model::MetricPoint point)>;
Result<> read_points(db::Connection& connection,
                     std::int64_t run,
                     const std::string& key,
                     const PointRange& range,
                     const OnPoint& on_point);

}  // namespace ponk::store
