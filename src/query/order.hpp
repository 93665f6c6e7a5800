// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"

#include <compare>

namespace ponk::query {

// Two numbers by their exact values (an integer past 2^53 is not rounded first), or two strings by
// code point. Unordered for a NaN and for any other pair.
std::partial_ordering compare(const Json& left, const Json& right);

}  // namespace ponk::query
