// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "base/synced.hpp"
#include "engine/context/notifier.hpp"

#include <functional>
#include <map>
#include <set>

namespace ponk::api {

// What one page has not been told yet, as marks that take the same room however often something
// happens. Safe for several threads.
class LiveNews {
public:
    struct OfList {
        std::set<RunId> changed = {};
        bool many = false;  // more runs than are named, or it is not known which
        bool row = false;
        bool points = false;
    };
    struct OfRun {
        bool words = false;
        bool points = false;
        bool row = false;
    };
    // More runs that changed are not named.
    static constexpr std::size_t most_named = 100;

    // Is called, by any thread, when there is a mark that was not there: what happens a thousand
    // times before the page is told rings once.
    void ring_by(std::function<void()> ring) { *ring_.lock() = std::move(ring); }

    void watch_list(bool watched);
    void watch_run(const RunId& run) { state_.lock()->runs.emplace(run, OfRun{}); }
    void leave_run(const RunId& run) { state_.lock()->runs.erase(run); }

    void tell(const RunId* run, engine::News news);

    // Without the names.
    OfList marks_of_list();
    OfRun marks_of_run(const RunId& run);
    // What is known since the last call.
    OfList take_list();
    OfRun take_run(const RunId& run);

private:
    struct State {
        bool list_watched = false;
        OfList list = {};
        std::map<RunId, OfRun> runs = {};
    };
    static bool note(State& state, const RunId* run, engine::News news);

    Synced<State> state_;
    Synced<std::function<void()>> ring_;
};

}  // namespace ponk::api
