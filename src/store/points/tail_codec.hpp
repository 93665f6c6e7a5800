// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "store/points/points_by_key.hpp"

#include <span>
#include <string>
#include <string_view>

// Points of one request as the table `tail` holds them, docs/design/point-chunk.md. Pure.
namespace ponk::store {

std::string encode_tail(const PointsByKey& points);
// Appends to `points` what `encode_tail` made, of this version or an earlier one; `damaged` for
// other bytes, and then `points` may have some of them.
Result<> decode_tail(std::string_view bytes, PointsByKey& points);
// The same for points of these keys alone; of none named: of all.
Result<>
decode_tail(std::string_view bytes, std::span<const std::string> keys, PointsByKey& points);

}  // namespace ponk::store
