// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "base/synced.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ponk::engine {

// What is new of a run: words of its log or its story; points of its metrics; or what a list shows
// of it, such as its state, its name or that it is there at all.
enum class News { words, points, row };

// Tells followers of a run that something is new, and watchers of all runs what it is. Safe for any
// thread. A listener is called without a lock held and must not block.
class Notifier {
public:
    using Listener = std::function<void()>;
    // Null: any run, and perhaps several.
    using Watcher = std::function<void(const RunId* run, News news)>;

    // Of one run, or of all; ended when destroyed.
    class Subscription {
    public:
        Subscription() = default;
        Subscription(Notifier& owner, std::uint64_t number, std::optional<RunId> run)
            : owner_(&owner), number_(number), run_(std::move(run))
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
        std::uint64_t number_ = 0;
        std::optional<RunId> run_;
    };

    [[nodiscard]] Subscription subscribe(const RunId& run, Listener listener);
    [[nodiscard]] Subscription watch(Watcher watcher);
    void ring(const RunId& run, News news = News::words);
    // Somebody changed runs, and it is not known here which.
    void ring_all();

private:
    using Watchers = std::map<std::uint64_t, std::shared_ptr<const Watcher>>;
    static void tell(const Watchers& watchers, const RunId* run, News news);

    struct State {
        std::uint64_t next = 1;
        Watchers watchers;
        std::map<RunId, std::map<std::uint64_t, std::shared_ptr<const Listener>>> listeners;
    };
    Synced<State> state_;
};

}  // namespace ponk::engine
