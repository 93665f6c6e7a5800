// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "store/search/search_order.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::store {

// A place in an order as a word for clients, who give it back as it is. It holds values, not a run:
// the next page begins right whatever has happened to the last run of this one.
std::string page_word(const std::vector<OrderColumn>& columns, const Marks& marks);
// `invalid_argument` when it is not a place in this order.
Result<Marks> parse_page_word(const std::vector<OrderColumn>& columns, std::string_view word);

}  // namespace ponk::store
