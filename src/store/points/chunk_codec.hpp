// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "store/points/point_columns.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// A chunk: some thousand points of one key as few bytes, docs/design/point-chunk.md. Pure.
namespace ponk::store {

constexpr std::size_t most_chunk_points = 4096;

// Not thread-safe; keeps what zstd needs from one chunk to the next.
class ChunkEncoder {
public:
    ChunkEncoder();
    ~ChunkEncoder();
    ChunkEncoder(const ChunkEncoder&) = delete;
    ChunkEncoder& operator=(const ChunkEncoder&) = delete;

    // At least one point, at most `most_chunk_points`.
    std::string encode(const PointColumns& points);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// The same for reading.
class ChunkDecoder {
public:
    ChunkDecoder();
    ~ChunkDecoder();
    ChunkDecoder(const ChunkDecoder&) = delete;
    ChunkDecoder& operator=(const ChunkDecoder&) = delete;

    // `damaged` for bytes that no encoder made.
    Result<PointColumns> decode(std::string_view bytes);
    // Only the numbers, over one axis; faster than all of it. Good until the next call.
    struct Numbers {
        std::vector<std::int64_t> x;
        std::vector<double> y;
    };
    enum class Axis { step, time };
    Result<const Numbers*> decode_numbers(std::string_view bytes, Axis axis);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ponk::store
