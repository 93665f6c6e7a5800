// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

namespace ponk::store {

// Which runs have points in the table `tail`, so that whoever reads need not look there. Known by
// the rows of the runs. Safe to call from any thread.
//
// A run is noted before the transaction that adds to its tail is committed, and forgotten after
// the one that empties it: at worst somebody looks in vain.
class Unsettled {
public:
    // Changes with everything that is noted for a run.
    using Mark = std::uint64_t;

    void note(std::int64_t run, std::uint64_t bytes);
    // 0 when nothing is noted.
    [[nodiscard]] Mark mark(std::int64_t run) const;
    // Unless something was noted since.
    void forget(std::int64_t run, Mark mark);

    [[nodiscard]] bool any() const noexcept { return count_ > 0; }
    [[nodiscard]] bool has(std::int64_t run) const { return any() && mark(run) != 0; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::vector<std::int64_t> runs() const;

private:
    struct Noted {
        Mark mark = 0;
        std::uint64_t bytes = 0;
    };
    struct State {
        std::map<std::int64_t, Noted> runs;
        Mark last = 0;
    };
    mutable Synced<State> state_;
    std::atomic<std::size_t> count_ = 0;    // of state_.runs
    std::atomic<std::uint64_t> bytes_ = 0;  // of all of them
};

}  // namespace ponk::store
