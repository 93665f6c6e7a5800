// SPDX-License-Identifier: Apache-2.0
#pragma once

// The marks in a chunk, docs/design/point-chunk.md.
namespace ponk::store::chunk_format {

constexpr char version = 1;

constexpr char plane_raw = 0;
constexpr char plane_zstd = 1;
constexpr char plane_constant = 2;

constexpr char values_float = 0;
constexpr char values_double = 1;

constexpr char texts_raw = 0;
constexpr char texts_zstd = 1;

}  // namespace ponk::store::chunk_format
