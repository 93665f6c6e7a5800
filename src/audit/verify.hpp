// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "audit/log_files.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::audit {

// Where the chain is broken first.
struct Break {
    std::string place;  // "audit/000002.jsonl:17"
    std::string what;
};

// What went before the oldest record that is kept, because the log had reached its size.
struct Removed {
    std::int64_t last = 0;  // records 1 to this one
    std::string until;      // time of that one; empty in logs of older versions
};

struct Verdict {
    std::optional<Break> broken;
    std::optional<Removed> removed;
    Head head;               // of the last record that was read
    std::int64_t first = 0;  // number of the oldest record that is kept; 0: none
    std::size_t files = 0;
    std::vector<std::string> notes;  // what is as it may be after a crash
};

// A record that somebody wrote down elsewhere.
struct Anchor {
    std::int64_t number = 0;
    std::string hash;
};

// Reads the whole log. Fails only when it cannot be read.
Result<Verdict> verify(const Path& home, const std::optional<Anchor>& anchor = {});

}  // namespace ponk::audit
