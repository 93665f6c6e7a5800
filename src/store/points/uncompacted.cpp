// SPDX-License-Identifier: Apache-2.0
#include "store/points/uncompacted.hpp"

#include "base/work_budget.hpp"

#include <algorithm>

namespace ponk::store {

namespace {

// How often whoever waits looks whether its request is over.
constexpr std::chrono::milliseconds look_interval{50};

}  // namespace

void Uncompacted::note(std::int64_t run, std::int64_t row, std::uint64_t bytes)
{
    auto runs = runs_.lock();
    if (row > last_row_) last_row_ = row;  // one that was there before us
    auto& rows = (*runs)[run];
    rows.push_back({row, bytes});
    if (rows.size() == many_rows) ++long_runs_;
    ++rows_;
    bytes_ += bytes;
    count_ = runs->size();
}

template <class Gone>
Uncompacted::Runs::iterator Uncompacted::drop(Runs& runs, Runs::iterator run, const Gone& gone)
{
    auto& rows = run->second;
    const bool was_long = rows.size() >= many_rows;
    const auto kept = std::stable_partition(
        rows.begin(), rows.end(), [&gone](const Row& each) { return !gone(each.row); });
    for (auto each = kept; each != rows.end(); ++each)
        bytes_ -= each->bytes;
    rows_ -= static_cast<std::size_t>(rows.end() - kept);
    rows.erase(kept, rows.end());
    if (was_long && rows.size() < many_rows) --long_runs_;
    return rows.empty() ? runs.erase(run) : std::next(run);
}

void Uncompacted::forget(std::int64_t run, std::span<const std::int64_t> rows)
{
    auto runs = runs_.lock();
    ++forgotten_;
    const auto found = runs->find(run);
    if (found == runs->end()) return;
    drop(*runs, found, [rows](std::int64_t row) {
        return std::binary_search(rows.begin(), rows.end(), row);
    });
    count_ = runs->size();
}

void Uncompacted::forget_until(std::int64_t last)
{
    auto runs = runs_.lock();
    ++forgotten_;
    for (auto run = runs->begin(); run != runs->end();)
        run = drop(*runs, run, [last](std::int64_t row) { return row <= last; });
    count_ = runs->size();
}

bool Uncompacted::has(std::int64_t run) const
{
    return any() && runs_.lock()->contains(run);
}

std::vector<std::int64_t> Uncompacted::rows(std::int64_t run) const
{
    std::vector<std::int64_t> all;
    auto runs = runs_.lock();
    if (const auto found = runs->find(run); found != runs->end()) {
        all.reserve(found->second.size());
        for (const auto& each : found->second)
            all.push_back(each.row);
    }
    return all;
}

std::vector<std::int64_t> Uncompacted::long_runs() const
{
    std::vector<std::int64_t> found;
    auto runs = runs_.lock();
    for (const auto& [run, rows] : *runs) {
        if (rows.size() >= many_rows) found.push_back(run);
    }
    return found;
}

Uncompacted::Turn::Turn(Uncompacted& uncompacted) : uncompacted_(uncompacted)
{
    auto turns = uncompacted_.turns_.lock();
    const auto mine = turns->given++;
    const auto is_mine = [&] { return turns->ended == mine; };
    while (!uncompacted_.turn_ended_.wait_for(turns.native(), look_interval, is_mine)) {
        taken_ = check_work();
        if (taken_) continue;
        turns->left.insert(mine);
        return;
    }
}

Uncompacted::Turn::~Turn()
{
    if (!taken_) return;
    {
        const auto turns = uncompacted_.turns_.lock();
        ++turns->ended;
        while (turns->left.erase(turns->ended) > 0)
            ++turns->ended;
    }
    uncompacted_.turn_ended_.notify_all();
}

}  // namespace ponk::store
