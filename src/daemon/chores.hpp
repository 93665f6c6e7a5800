// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/history/history.hpp"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace ponk::daemon {

// What is done again and again beside the runs. A chore is done when it succeeded, and that is kept
// in the database: most daemons live shorter than an interval. One that failed is tried again with
// growing pauses, and the reason is reported once. Used by one thread.
class Chores {
public:
    using Work = std::function<Result<>(std::stop_token stop)>;
    using Tell = std::function<void(const std::string& line)>;

    Chores(store::History& history, Tell tell) : history_(history), tell_(std::move(tell)) {}

    // An interval of 0: each time.
    void add(std::string name, std::int64_t every_ms, Work work);
    // Does what is due. The times are of the wall clock and of the boot's.
    void work(std::int64_t wall_ms, std::int64_t boot_ms, const std::stop_token& stop);

    static constexpr std::int64_t first_pause_ms = std::int64_t{10} * 60 * 1000;

private:
    struct Chore {
        std::string name;
        std::int64_t every_ms = 0;
        Work work;
        std::int64_t next_try = 0;  // by the clock of the boot; 0: when it is due
        std::int64_t pause_ms = first_pause_ms;
        std::string problem;  // as it was last reported
    };

    [[nodiscard]] bool is_due(const Chore& chore, std::int64_t wall_ms, std::int64_t boot_ms) const;
    void note(Chore& chore, const Result<>& outcome, std::int64_t boot_ms);

    store::History& history_;
    Tell tell_;
    std::vector<Chore> chores_;
};

}  // namespace ponk::daemon
