// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/points/chunk_row.hpp"
#include "store/records.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Rows of the tables `metric` and `journal`. Used inside transactions.
namespace ponk::store {

Result<std::uint64_t>
stored_offset(db::Connection& connection, std::int64_t run, const std::string& journal);
// Returns how many tags did not fit.
Result<std::size_t>
store_batch(db::Connection& writer, std::int64_t run, const JournalBatch& batch);
// Of keys that are compacted, in their order and without lists.
Result<std::vector<LatestMetric>>
read_compacted(db::Connection& connection, std::int64_t run, const MetricRange& range);

// A key of a run while its points are read or added to.
struct OpenMetric {
    std::int64_t row = 0;
    LatestMetric latest;
};
Result<std::optional<OpenMetric>>
find_open_metric(db::Connection& connection, std::int64_t run, const std::string& key);
// Writes count and latest of a key.
Result<> write_latest(db::Connection& writer, const OpenMetric& metric);

// SQLite has no NaN: it is stored as NULL, which no other number is.
double number_of(const db::Statement& row, int column);

}  // namespace ponk::store
