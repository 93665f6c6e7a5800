// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>

namespace ponk {

// Where all answers that are being made are counted together.
class AnswerMeter {
public:
    virtual ~AnswerMeter() = default;
    // This one has so many bytes by now; false when there is no room for them at the moment.
    virtual bool hold(std::size_t bytes) = 0;
};

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
    // For the next part of the work; of a body that is streamed each piece has its own.
    void set_deadline(Clock::time_point deadline) noexcept
    {
        deadline_.store(deadline, std::memory_order_relaxed);
    }
    // The deadline becomes this one, unless it is sooner already.
    void bring_forward(Clock::time_point deadline) noexcept
    {
        if (deadline < deadline_.load(std::memory_order_relaxed)) set_deadline(deadline);
    }
    // `cancelled` once abandoned, `timeout` past the deadline.
    [[nodiscard]] Result<> check() const;

    // How many bytes an answer may have that is made whole before it is sent.
    // `meter` must live as long as this.
    void limit_answer(std::size_t bytes, AnswerMeter* meter = nullptr) noexcept
    {
        answer_limit_ = bytes;
        meter_ = meter;
    }
    // Counts bytes of the answer before they are made, on one thread at a time. Once they are more
    // than the limit the answer can never be given: `invalid_argument`. `unavailable` when there is
    // no room beside the others.
    [[nodiscard]] Result<> charge_answer(std::size_t bytes) const;

private:
    std::atomic<bool> abandoned_ = false;
    std::atomic<Clock::time_point> deadline_ = Clock::time_point::max();
    std::size_t answer_limit_ = static_cast<std::size_t>(-1);
    AnswerMeter* meter_ = nullptr;
    mutable std::atomic<std::size_t> answer_bytes_ = 0;
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
// Counts bytes of the answer of this thread's request, and asks whether to go on: what makes
// answers from what clients stored calls it for each part, before it keeps the part in memory.
[[nodiscard]] Result<> charge_answer(std::size_t bytes);

}  // namespace ponk
