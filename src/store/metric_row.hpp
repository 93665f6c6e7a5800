// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/records.hpp"

#include <cstdint>
#include <string>
#include <vector>

// Rows of the tables `metric`, `point` and `journal`. Used inside transactions.
namespace ponk::store {

Result<std::uint64_t>
stored_offset(db::Connection& connection, std::int64_t run, const std::string& journal);
Result<> store_batch(db::Connection& writer, std::int64_t run, const JournalBatch& batch);
Result<std::vector<LatestMetric>> read_latest(db::Connection& connection, std::int64_t run);
Result<std::vector<model::MetricPoint>>
read_series(db::Connection& connection, std::int64_t run, const std::string& key);

}  // namespace ponk::store
