// SPDX-License-Identifier: Apache-2.0
#include "audit/tally.hpp"

#include <utility>

namespace ponk::audit {

namespace {

constexpr std::int64_t day_length = 86'400'000;

// What is left to say of calls that nobody tells apart.
Record rest_of(const Record& record)
{
    Record rest;
    rest.kind = "summary";
    rest.who = account_of(record.who);
    rest.role = record.role;
    return rest;
}

}  // namespace

std::string account_of(std::string_view who)
{
    return who.starts_with("run:") ? "run:*" : std::string(who);
}

void Usage::add(std::string_view who, std::int64_t time, std::uint64_t bytes)
{
    if (who.empty()) return;  // the log's own events
    if (const auto day = time / day_length; day != day_) {
        day_ = day;
        bytes_.clear();
    }
    bytes_[account_of(who)] += bytes;
}

Share Usage::share_of(std::string_view who, std::int64_t time) const
{
    const auto found = bytes_.find(account_of(who));
    if (found == bytes_.end() || time / day_length != day_) return Share::lines;
    if (found->second >= daily_) return Share::counts;
    return found->second >= daily_ / 2 ? Share::firsts : Share::lines;
}

bool Tally::count(std::string_view key)
{
    const auto found = counted_.find(key);
    if (found == counted_.end()) return false;
    ++found->second.count;
    return true;
}

bool Tally::begin(std::string_view key, const Record& about, Share share)
{
    const auto account = account_of(about.who);
    auto& kinds = kinds_[account];
    if (share != Share::counts && kinds < most_) {
        ++kinds;
        counted_.try_emplace(std::string(key), Counted{about});
        return true;
    }
    // No other key begins with a line feed.
    const auto rest = counted_.try_emplace('\n' + account, Counted{rest_of(about)}).first;
    ++rest->second.count;
    return false;
}

void Tally::take_into(std::vector<Record>& records, std::int64_t time)
{
    for (auto& [key, counted] : counted_) {
        if (counted.count == 0) continue;
        counted.about.time = time;
        counted.about.count = counted.count;
        records.push_back(std::move(counted.about));
    }
    counted_.clear();
    kinds_.clear();
}

}  // namespace ponk::audit
