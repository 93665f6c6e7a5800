// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "db/database.hpp"
#include "store/points/block_summary.hpp"
#include "store/points/chunk_row.hpp"
#include "store/points/pixel_curve.hpp"

#include <cstdint>
#include <optional>

// Rows of the table `chunk_summary`, one for each row of `chunk`.
namespace ponk::store {

// Beside a chunk that was just stored.
Result<> store_summary(db::Connection& writer,
                       std::int64_t chunk,
                       std::int64_t metric,
                       const ChunkHead& head,
                       const EncodedSummaries& summaries);

// From the least to the greatest step or time of the chunks of a key.
Result<std::optional<AxisEnds>>
read_ends(db::Connection& connection, std::int64_t metric, SummaryAxis axis);

// Shows `curve` all numbers of a key's chunks, in the order of arrival: from summaries where these
// say enough, else from the points. False when they are not in the order of x; then the curve is
// spoilt. `origin`: what x counts from.
Result<bool> add_chunks(db::Connection& connection,
                        std::int64_t metric,
                        SummaryAxis axis,
                        std::uint64_t origin,
                        PixelCurve& curve);

// Makes summaries of chunks of earlier versions, in many short transactions.
Result<> make_missing_summaries(db::Database& database);

}  // namespace ponk::store
