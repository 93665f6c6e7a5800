// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/points/block_summary.hpp"
#include "store/points/chunk_codec.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

// Rows of the table `chunk`. Used inside transactions.
namespace ponk::store {

// All that is known of a chunk without its points.
struct ChunkHead {
    std::int64_t row = 0;
    std::int64_t first = 0;  // points of the key that arrived before
    std::int64_t count = 0;
    std::int64_t least_step = 0;
    std::int64_t greatest_step = 0;
    std::int64_t least_time = 0;
    std::int64_t greatest_time = 0;
    bool ordered = false;    // by step, time, value
    std::int64_t texts = 0;  // points that are not numbers
};

// What the head of these points says, of which so many came before; without a row.
ChunkHead make_head(std::int64_t first, const PointColumns& points);
// Of one key, in the order of arrival.
Result<std::vector<ChunkHead>> read_heads(db::Connection& connection, std::int64_t metric);
Result<PointColumns>
read_chunk(db::Connection& connection, std::int64_t row, ChunkDecoder& decoder);

// Which points of a key: those behind the first `after`, at most `limit`.
struct PointRange {
    std::int64_t after = 0;
    std::int64_t limit = std::numeric_limits<std::int64_t>::max();
};
// Points `first` to the one before `last` of a chunk.
using OnColumns =
    std::function<void(const PointColumns& points, std::size_t first, std::size_t last)>;
// In the order of arrival, a chunk at a time.
Result<> read_columns(db::Connection& connection,
                      std::int64_t metric,
                      const PointRange& range,
                      const OnColumns& on_columns);

// What it takes to store points of a key behind those that it has.
struct ChunkChange {
    struct Made {
        ChunkHead head;  // without its row
        std::string data;
        EncodedSummaries summaries;
    };
    std::vector<std::int64_t> joined;  // rows that go: their points are in the new chunks
    std::vector<Made> made;
};
// Behind the `stored` points that the key has; changes nothing. Chunks at its end that are no
// larger than what comes are joined with it, so a key has many large chunks and few small ones, and
// a point is moved a handful of times at most.
Result<ChunkChange> plan_chunks(db::Connection& connection,
                                std::int64_t metric,
                                std::int64_t stored,
                                PointColumns points,
                                ChunkEncoder& encoder);
Result<> store_chunks(db::Connection& writer, std::int64_t metric, const ChunkChange& change);

}  // namespace ponk::store
