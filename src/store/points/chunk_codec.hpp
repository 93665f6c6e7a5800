// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "store/points/point_columns.hpp"

#include <memory>
#include <string>
#include <string_view>

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

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ponk::store
