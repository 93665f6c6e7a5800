// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace ponk::secrets {

// A longer text is looked for in overlapping pieces of this many bytes (three more where a
// character would be cut), so that what has to be held back of a log does not grow with a secret.
constexpr std::size_t longest_piece = 256;
// Of what a value consists of (lines, members of JSON) only texts of this length are looked for.
constexpr std::size_t shortest_part = 8;

// The texts to look for so that `value` and its parts are not shown: the value, the value without
// blanks around it, each of its lines, and when it is JSON each text in it. None for a value that
// is shorter than `shortest_redacted`.
std::set<std::string> pieces_of(std::string_view value);

}  // namespace ponk::secrets
