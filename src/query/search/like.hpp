// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ponk::query::search {

// `ascii_folded`: a-z and A-Z are the same letters, all others are not, as in SQLite's LIKE.
enum class Letters { exact, ascii_folded };

// Whether all of `text` fits the pattern, in which '%' is any text, '_' one character (a byte that
// is no UTF-8 counts as one), and everything else itself: there is no escape. Takes at most
// the product of both lengths.
bool matches_like(std::string_view pattern, std::string_view text, Letters letters);

}  // namespace ponk::query::search
