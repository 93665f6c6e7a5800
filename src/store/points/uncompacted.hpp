// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/synced.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace ponk::store {

// Which rows of the table `tail` are whose, so that whoever reads a run need not look for them.
// Runs are known by their rows. Safe to call from any thread.
//
// A row is noted before the transaction that adds it is committed, and forgotten after the one that
// removes it: at worst somebody looks in vain.
class Uncompacted {
public:
    // Greater than all before, and never given again.
    std::int64_t next_row() noexcept { return ++last_row_; }
    void note(std::int64_t run, std::int64_t row, std::uint64_t bytes);

    // Of these, or of all up to `last`, there is none any more.
    void forget(std::int64_t run, std::span<const std::int64_t> rows);
    void forget_until(std::int64_t last);

    [[nodiscard]] bool any() const noexcept { return count_ > 0; }
    [[nodiscard]] bool has(std::int64_t run) const;
    [[nodiscard]] std::vector<std::int64_t> rows(std::int64_t run) const;  // ascending
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }  // of all rows
    [[nodiscard]] std::size_t count() const noexcept { return rows_; }     // of all rows
    // Runs with so many rows that whoever reads one of them would notice.
    static constexpr std::size_t many_rows = 1000;
    [[nodiscard]] bool any_long_run() const noexcept { return long_runs_ > 0; }
    [[nodiscard]] std::vector<std::int64_t> long_runs() const;
    // How often rows were forgotten. Where it is the same before a reader's transaction begins and
    // when `rows` has answered within it, no row that the transaction sees is missing there.
    [[nodiscard]] std::uint64_t forgotten() const noexcept { return forgotten_; }

    // The last row that was given a number.
    [[nodiscard]] std::int64_t last_row() const noexcept { return last_row_; }

    // While it lives, no other thread compacts. Threads get it in the order of asking, and wait no
    // longer than their request lasts. Readers never take it.
    class Turn {
    public:
        explicit Turn(Uncompacted& uncompacted);
        ~Turn();
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        // An error when the request was over before its turn came.
        [[nodiscard]] const Result<>& taken() const noexcept { return taken_; }

    private:
        Uncompacted& uncompacted_;
        Result<> taken_;
    };

private:
    struct Row {
        std::int64_t row;
        std::uint64_t bytes;
    };
    struct Turns {
        std::uint64_t given = 0;
        std::uint64_t ended = 0;
        std::set<std::uint64_t> left;  // before their turn came
    };
    using Runs = std::map<std::int64_t, std::vector<Row>>;
    // Forgets those rows of a run for which `gone(row)`; returns the run behind it.
    template <class Gone>
    Runs::iterator drop(Runs& runs, Runs::iterator run, const Gone& gone);

    mutable Synced<Runs> runs_;
    std::atomic<std::size_t> count_ = 0;    // of runs_
    std::atomic<std::uint64_t> bytes_ = 0;  // of all of them
    std::atomic<std::size_t> rows_ = 0;
    std::atomic<std::size_t> long_runs_ = 0;
    std::atomic<std::uint64_t> forgotten_ = 0;
    std::atomic<std::int64_t> last_row_ = 0;
    Synced<Turns> turns_;
    std::condition_variable turn_ended_;
};

}  // namespace ponk::store
