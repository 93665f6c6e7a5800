// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <atomic>
#include <chrono>

namespace ponk {

// What one request may cost, and whether its client is still there. The server makes one per
// request; every thread that works for the request enters it with a `WorkScope`. Loops over data
// that a client chose, and every statement of the database, ask `check_work` now and then.
//
// Safe to use from several threads.
class WorkBudget {
public:
    using Clock = std::chrono::steady_clock;

    WorkBudget() = default;
    explicit WorkBudget(Clock::time_point deadline) : deadline_(deadline) {}
    WorkBudget(const WorkBudget&) = delete;
    WorkBudget& operator=(const WorkBudget&) = delete;

    // The client has left: nobody reads what is still being made.
    void abandon() noexcept { abandoned_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool abandoned() const noexcept
    {
        return abandoned_.load(std::memory_order_relaxed);
    }
    // `cancelled` once abandoned, `timeout` past the deadline.
    [[nodiscard]] Result<> check() const;

private:
    std::atomic<bool> abandoned_ = false;
    Clock::time_point deadline_ = Clock::time_point::max();
};

// While it lives, work of this thread is for `budget`; then for the one before. Scopes nest.
class WorkScope {
public:
    explicit WorkScope(const WorkBudget* budget) noexcept;
    ~WorkScope();
    WorkScope(const WorkScope&) = delete;
    WorkScope& operator=(const WorkScope&) = delete;

private:
    const WorkBudget* before_;
};

// Whether the work of this thread should go on. Without a scope it always should.
[[nodiscard]] Result<> check_work();
// The same for callbacks of C libraries: true when the work should end.
[[nodiscard]] bool work_is_over() noexcept;

}  // namespace ponk
