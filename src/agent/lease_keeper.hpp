// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "base/time.hpp"
#include "snapshot/lease.hpp"

#include <optional>

namespace ponk::agent {

// Keeps the collector away while objects come or go, and a while after: between a question about
// objects and the run that needs them nothing else refers to them. Any thread may call.
class LeaseKeeper {
public:
    explicit LeaseKeeper(os::Path root) : root_(std::move(root)) {}

    Result<> touch(const std::stop_token& stop)
    {
        auto state = state_.lock();
        state->last = boot_milliseconds();
        if (!state->lease)
            state->lease.emplace(TRY(snapshot::Lease::take(root_, "an agent", stop)));
        return {};
    }
    // Lets go when nothing happened for long.
    void release_if_idle(std::chrono::milliseconds span)
    {
        auto state = state_.lock();
        if (boot_milliseconds() - state->last > span.count()) state->lease.reset();
    }

private:
    struct State {
        std::optional<snapshot::Lease> lease;
        std::int64_t last = 0;
    };
    os::Path root_;
    Synced<State> state_;
};

}  // namespace ponk::agent
