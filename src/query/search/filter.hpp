// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "query/search/comparison.hpp"
#include "query/search/grammar.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::query::search {

// Bounds that keep any text, hostile ones too, within small time and memory.
struct FilterLimits {
    std::size_t text = std::size_t{256} << 10;  // bytes of a filter or an entry of an order
    std::size_t comparisons = 100;
    std::size_t listed = 10'000;  // values in all lists together
    std::size_t pattern = 8'000;  // characters of a pattern; no value that is stored is longer
    std::size_t order_keys = 10;
};

// An empty text passes everything. Every error is `invalid_argument`; its message begins with
// "filter at column N: ", says what is wrong, and shows the place in two more lines.
Result<Filter>
parse_filter(const Grammar& grammar, std::string_view text, const FilterLimits& limits = {});

// Each entry is a name, then ASC, DESC or nothing; no name is in two of them. Errors begin with
// "order_by at column N: ", or "order_by[1] …" where there are several entries.
Result<std::vector<OrderKey>> parse_order_by(const Grammar& grammar,
                                             const std::vector<std::string>& entries,
                                             const FilterLimits& limits = {});

}  // namespace ponk::query::search
