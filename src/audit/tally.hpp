// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "audit/record.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::audit {

// How much of a day's log a caller has left (docs/design/audit.md, "Limits of a caller").
enum class Share {
    lines,   // a line for each call
    firsts,  // a line for the first call of its kind in a minute, the others are counted
    counts,  // all calls of a minute are one line
};

// Under which callers share the log: all runs do it as one, because whoever submits makes new ones.
std::string account_of(std::string_view who);

// How many bytes of lines each account has had since the day began. A day is one of UTC.
class Usage {
public:
    explicit Usage(std::uint64_t daily) : daily_(daily) {}

    void add(std::string_view who, std::int64_t time, std::uint64_t bytes);
    [[nodiscard]] Share share_of(std::string_view who, std::int64_t time) const;

private:
    std::uint64_t daily_;
    std::int64_t day_ = 0;
    std::map<std::string, std::uint64_t, std::less<>> bytes_;
};

// Calls of one minute that have a line together. A caller has at most `most` kinds of them; what is
// beyond that is one line without a route.
class Tally {
public:
    explicit Tally(std::size_t most) : most_(most) {}

    [[nodiscard]] bool empty() const noexcept { return counted_.empty(); }
    // Counts a call of a kind that has begun; false: it has not.
    bool count(std::string_view key);
    // Begins a kind, with nothing counted yet. False: its caller may not have another one, and the
    // call was counted among the rest of the caller's.
    bool begin(std::string_view key, const Record& about, Share share);
    // A record for each kind with a count; empty then.
    void take_into(std::vector<Record>& records, std::int64_t time);

private:
    struct Counted {
        Record about;
        std::int64_t count = 0;
    };
    std::size_t most_;
    std::map<std::string, Counted, std::less<>> counted_;
    std::map<std::string, std::size_t, std::less<>> kinds_;  // by account
};

}  // namespace ponk::audit
