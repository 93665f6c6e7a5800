// SPDX-License-Identifier: Apache-2.0
#include "api/native/live_news.hpp"

#include <utility>

namespace ponk::api {

void LiveNews::watch_list(bool watched)
{
    const auto state = state_.lock();
    state->list_watched = watched;
    state->list = {};
}

// Whether the page wants to hear of it and does not know yet that there is something.
bool LiveNews::note(State& state, const RunId* run, engine::News news)
{
    using engine::News;
    bool is_new = false;
    const auto mark = [&is_new](bool& flag) { is_new = !std::exchange(flag, true) || is_new; };
    if (state.list_watched && news != News::words) {
        auto& list = state.list;
        mark(news == News::row ? list.row : list.points);
        if (run == nullptr || list.changed.size() >= most_named) list.many = true;
        if (run != nullptr && !list.many) list.changed.insert(*run);
    }
    const auto mark_run = [&mark, news](OfRun& one) {
        mark(news == News::words ? one.words : (news == News::points ? one.points : one.row));
    };
    if (run == nullptr) {
        for (auto& entry : state.runs)
            mark_run(entry.second);
    } else if (const auto found = state.runs.find(*run); found != state.runs.end()) {
        mark_run(found->second);
    }
    return is_new;
}

void LiveNews::tell(const RunId* run, engine::News news)
{
    if (!note(*state_.lock(), run, news)) return;
    const auto ring = *ring_.lock();
    if (ring) ring();
}

LiveNews::OfList LiveNews::marks_of_list()
{
    const auto state = state_.lock();
    return {.row = state->list.row, .points = state->list.points};
}

LiveNews::OfRun LiveNews::marks_of_run(const RunId& run)
{
    const auto state = state_.lock();
    const auto found = state->runs.find(run);
    return found == state->runs.end() ? OfRun{} : found->second;
}

LiveNews::OfList LiveNews::take_list()
{
    return std::exchange(state_.lock()->list, {});
}

LiveNews::OfRun LiveNews::take_run(const RunId& run)
{
    const auto state = state_.lock();
    const auto found = state->runs.find(run);
    return found == state->runs.end() ? OfRun{} : std::exchange(found->second, {});
}

}  // namespace ponk::api
