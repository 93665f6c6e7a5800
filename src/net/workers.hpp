// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/account.hpp"
#include "net/server.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace ponk::net {

// Of this thread, in nanoseconds.
std::int64_t thread_cpu_time();

// Threads for what may block.
//
// Accounts take turns: the next job is of the client that used the least CPU time of those that
// wait, so many jobs of one do not keep another waiting. No client has all threads, and one that
// uses much CPU time has few of them. Slow jobs and pieces of bodies never have all threads
// either: some are left for quick jobs. What computes for others than the owner leaves a processor
// free where there are several: I/O threads, commits and the owner need it. One thread more runs
// jobs of the owner alone that do not wait for others.
class Workers {
public:
    using Job = std::function<void()>;
    using Pace = Reception::Pace;

    explicit Workers(std::size_t count);
    ~Workers() { join(); }
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    void run(const std::shared_ptr<Account>& client, Pace pace, Job job);
    // What was done for the client on another thread counts like a job of it.
    void charge(Account& client, std::int64_t cpu);
    // Runs what waits and ends the threads; nothing may come after it.
    void join();
    // Jobs that wait, for tests.
    [[nodiscard]] std::size_t waiting() const;

private:
    enum class Kind { ordinary, reserved };
    struct Taken {
        std::shared_ptr<Account> client;
        Pace pace = Pace::quick;
        Job job;
    };

    void serve(Kind kind);
    void wake();
    bool take(Kind kind, Taken& taken);
    [[nodiscard]] bool has_room(const Account& client, Pace pace) const;
    [[nodiscard]] int next_of(Kind kind, const Account& client) const;
    void end(const Taken& taken, std::int64_t cpu);
    static void spend(Account& client, std::int64_t cpu);

    const std::size_t limits_[Reception::paces];  // jobs at once, by pace
    const std::size_t compute_limit_;  // pieces and what computes, of all clients but the owner
    const std::size_t client_limit_;   // of one client
    const std::size_t heavy_limit_;    // of one client that uses much CPU time
    mutable std::mutex mutex_;
    std::condition_variable ordinary_;
    std::condition_variable reserved_;
    std::vector<std::shared_ptr<Account>> queue_;  // those with jobs that wait
    std::size_t running_[Reception::paces] = {};
    std::size_t computing_ = 0;  // of those that `compute_limit_` counts
    std::size_t idle_ = 0;       // ordinary threads that wait
    std::int64_t spent_ = 0;     // of the client whose turn was last
    bool ends_ = false;
    std::vector<std::jthread> threads_;  // last: they use the rest
};

}  // namespace ponk::net
