// SPDX-License-Identifier: Apache-2.0
#include "store/unsettled.hpp"

namespace ponk::store {

void Unsettled::note(std::int64_t run, std::uint64_t bytes)
{
    auto state = state_.lock();
    auto& noted = state->runs[run];
    noted.mark = ++state->last;
    noted.bytes += bytes;
    bytes_ += bytes;
    count_ = state->runs.size();
}

Unsettled::Mark Unsettled::mark(std::int64_t run) const
{
    auto state = state_.lock();
    const auto found = state->runs.find(run);
    return found == state->runs.end() ? 0 : found->second.mark;
}

void Unsettled::forget(std::int64_t run, Mark mark)
{
    auto state = state_.lock();
    const auto found = state->runs.find(run);
    if (found == state->runs.end() || found->second.mark != mark) return;
    bytes_ -= found->second.bytes;
    state->runs.erase(found);
    count_ = state->runs.size();
}

std::vector<std::int64_t> Unsettled::runs() const
{
    std::vector<std::int64_t> all;
    auto state = state_.lock();
    for (const auto& [run, noted] : state->runs)
        all.push_back(run);
    return all;
}

}  // namespace ponk::store
