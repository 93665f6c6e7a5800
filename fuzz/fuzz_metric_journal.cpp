// SPDX-License-Identifier: Apache-2.0
#include "model/metric_journal.hpp"
#include "work_bound.hpp"

#include <cstdlib>

// Read at once or in two pieces, the same records come out; reading never goes backwards.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const WorkBound bound(size);
    using namespace ponk::model;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto whole = read_journal(bytes, 0);
    if (whole.next > size || whole.damaged > whole.next) std::abort();
    const auto first = read_journal(bytes.substr(0, size / 2), 0);
    if (first.next > size / 2) std::abort();
    const auto second = read_journal(bytes.substr(first.next), first.next);
    if (first.points.size() + second.points.size() != whole.points.size()) std::abort();
    if (first.params.size() + second.params.size() != whole.params.size()) std::abort();
    if (first.tracked.size() + second.tracked.size() != whole.tracked.size()) std::abort();
    if (first.asks.size() + second.asks.size() != whole.asks.size()) std::abort();
    // A tag that a later record takes away is in the first piece, not in the whole.
    if (first.tags.size() + second.tags.size() < whole.tags.size()) std::abort();
    return 0;
}
