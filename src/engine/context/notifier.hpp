// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "base/synced.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

namespace ponk::engine {

// Tells followers of a run that something is new: log bytes, an event, a state. Safe for any
// thread. A listener is called without a lock held and must not block.
class Notifier {
public:
    using Listener = std::function<void()>;

    // Ends the subscription when destroyed.
    class Subscription {
    public:
        Subscription() = default;
        Subscription(Notifier& owner, RunId run, std::uint64_t number)
            : owner_(&owner), run_(std::move(run)), number_(number)
        {
        }
        ~Subscription() { end(); }
        Subscription(Subscription&& other) noexcept { *this = std::move(other); }
        Subscription& operator=(Subscription&& other) noexcept;
        Subscription(const Subscription&) = delete;
        Subscription& operator=(const Subscription&) = delete;

    private:
        void end();
        Notifier* owner_ = nullptr;
        RunId run_;
        std::uint64_t number_ = 0;
    };

    [[nodiscard]] Subscription subscribe(const RunId& run, Listener listener);
    void ring(const RunId& run);

private:
    struct State {
        std::uint64_t next = 1;
        std::map<RunId, std::map<std::uint64_t, std::shared_ptr<const Listener>>> listeners;
    };
    Synced<State> state_;
};

}  // namespace ponk::engine
