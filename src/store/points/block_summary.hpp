// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "store/points/point_columns.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What pictures need to know of a chunk without its points: docs/design/chunk-summary.md. Pure.
namespace ponk::store {

// Makes a step or time a number without sign in the same order.
constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63U;

// NaN, infinity, minus infinity.
inline std::size_t odd_kind(double y)
{
    return std::isnan(y) ? 0 : y > 0 ? 1 : 2;
}

// Numbers of a chunk that came one after the other, with x of one column of the summary.
struct PointBlock {
    struct Point {
        std::uint32_t at = 0;  // how many of the block came before
        std::int64_t x = 0;
        double y = 0;
    };
    std::uint32_t count = 0;
    Point first;
    Point last;
    std::optional<Point> low;  // the first lowest and first highest; nullopt: none is finite
    std::optional<Point> high;
    std::vector<Point> odd;  // the first NaN, infinity and minus infinity that it has
};

// The numbers of a chunk over its steps or its times, block by block in the order of x. The blocks'
// columns are `2^shift` wide and begin at multiples of that.
struct BlockSummary {
    unsigned shift = 0;
    std::int64_t nonfinite = 0;
    std::vector<PointBlock> blocks;
};

enum class SummaryAxis { step, time };
// Nullopt when the numbers did not come in the order of x, or there are so few of them that their
// summary would save nothing.
std::optional<BlockSummary> summarize(const PointColumns& points, SummaryAxis axis);

std::string encode_summary(const BlockSummary& summary);
// `damaged` for bytes that no encoder made.
Result<BlockSummary> decode_summary(std::string_view bytes);

// Of both axes, encoded; empty: there is none, and the points themselves are to be read.
struct EncodedSummaries {
    std::string steps;
    std::string times;
};
EncodedSummaries encode_summaries(const PointColumns& points);

}  // namespace ponk::store
