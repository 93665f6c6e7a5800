// SPDX-License-Identifier: Apache-2.0
// The first byte chooses what is searched, the rest is a filter; each of its lines is also an entry
// of an order, and the first two are a pattern and a text.
#include "base/like.hpp"
#include "base/text.hpp"
#include "query/search/filter.hpp"
#include "work_bound.hpp"

#include <cstdint>
#include <cstdlib>

namespace search = ponk::query::search;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const WorkBound bound(size);
    if (size == 0) return 0;
    const search::Grammar* const grammars[] = {&search::runs,
                                               &search::history_runs,
                                               &search::experiments,
                                               &search::logged_models,
                                               &search::registered_models,
                                               &search::model_versions};
    const auto& grammar = *grammars[data[0] % std::size(grammars)];
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);

    // What was understood can be printed, and means the same again.
    if (const auto filter = search::parse_filter(grammar, text)) {
        const auto again = search::parse_filter(grammar, search::to_text(*filter));
        if (!again || *again != *filter) std::abort();
    }
    const auto lines = ponk::split(text, '\n');
    if (const auto keys = search::parse_order_by(grammar, lines)) {
        for (const auto& key : *keys) {
            const auto again = search::parse_order_by(grammar, {search::to_text(key)});
            if (!again || again->front() != key) std::abort();
        }
    }
    if (lines.size() > 1 && size < 2000) {
        const bool exact = ponk::matches_like(lines[0], lines[1], ponk::Letters::exact);
        if (exact && !ponk::matches_like(lines[0], lines[1], ponk::Letters::ascii_folded))
            std::abort();
    }
    return 0;
}
