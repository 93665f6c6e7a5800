// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace ponk::net {

// The time of I/O threads that one client takes: beyond half of one's time its next bytes wait, so
// that others have the rest. Safe for several threads.
class IoShare {
public:
    using Clock = std::chrono::steady_clock;

    // In nanoseconds, as counted: the kernel's part of it cannot be measured here.
    void charge(std::int64_t cost, Clock::time_point now);
    // How long to wait before more is read.
    [[nodiscard]] std::chrono::milliseconds pause(Clock::time_point now);

private:
    struct Load {
        std::int64_t cost = 0;  // what has not worn off
        Clock::time_point at;
    };
    Synced<Load> load_;
};

// What one client uses of the server: the owner, a token, or an address without one. All its
// connections share it. Safe for several threads.
class Account {
public:
    // The owner has the rest of the server as its limit, others have a share.
    enum class Kind { owner, guest };

    explicit Account(Kind kind) : kind_(kind) {}
    [[nodiscard]] bool is_owner() const noexcept { return kind_ == Kind::owner; }

    std::atomic<std::size_t> body_bytes{0};    // in memory now
    std::atomic<std::size_t> answer_bytes{0};  // likewise
    std::atomic<std::size_t> calls{0};         // that are not answered yet
    IoShare io;
    // CPU time on I/O threads that `Workers` were not told of yet, and what they think of it all.
    std::atomic<std::int64_t> uncharged{0};
    std::atomic<bool> heavy{false};

    // Guarded by the lock of `Workers`.
    struct Turn {
        std::deque<std::function<void()>> jobs[5] = {};  // by pace
        std::size_t running = 0;
        std::size_t last_long = 0;  // which of the long paces had the last turn
        bool queued = false;        // has jobs that wait
        std::int64_t spent = 0;     // nanoseconds of CPU, for the order of clients
        // CPU time of late, which runs out again with time; beyond some it is a heavy client.
        std::int64_t load = 0;
        std::int64_t load_at = 0;
    } turn;

private:
    Kind kind_;
};

// The clients of late, by name. What they used is remembered after their last connection, so that
// nobody begins again by connecting again. Safe for several threads.
class Accounts {
public:
    // An empty name is the owner's.
    std::shared_ptr<Account> find(const std::string& name);

private:
    Synced<std::map<std::string, std::shared_ptr<Account>>> known_;
};

}  // namespace ponk::net
