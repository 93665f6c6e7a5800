// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/points/chunk_row.hpp"
#include "store/points/tail_reader.hpp"
#include "store/records.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// The points of a run as a read shows them: those of chunks, and behind them those of its tail, as
// compaction will put them. Used inside transactions; nothing is changed.
namespace ponk::store {

// A key while its points are read.
struct KeyPoints {
    std::int64_t row = 0;  // of `metric`; 0: it has no chunks
    LatestMetric latest;   // of all its points
    PointColumns tail;     // those that come behind its chunks
};
// Nullopt when the run has no such key.
Result<std::optional<KeyPoints>> find_key(db::Connection& connection,
                                          const TailReader& tail,
                                          std::int64_t run,
                                          const std::string& key);

// The tail counts as one chunk, the last one.
Result<std::vector<ChunkHead>> read_heads(db::Connection& connection, const KeyPoints& key);
Result<PointColumns> read_chunk(db::Connection& connection,
                                const KeyPoints& key,
                                const ChunkHead& head,
                                ChunkDecoder& decoder);
// In the order of arrival, a chunk at a time.
Result<> read_columns(db::Connection& connection,
                      const KeyPoints& key,
                      const PointRange& range,
                      const OnColumns& on_columns);
using OnPoint = std::function<void(model::MetricPoint point)>;
Result<> read_points(db::Connection& connection,
                     const KeyPoints& key,
                     const PointRange& range,
                     const OnPoint& on_point);

// Keys of the run in their order, with the lists that are shown as such.
Result<std::vector<LatestMetric>> read_latest(db::Connection& connection,
                                              const TailReader& tail,
                                              std::int64_t run,
                                              const MetricRange& range = {});
Result<std::int64_t>
count_keys(db::Connection& connection, const TailReader& tail, std::int64_t run);

}  // namespace ponk::store
