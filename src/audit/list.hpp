// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "audit/log_files.hpp"

#include <functional>
#include <optional>
#include <string>

namespace ponk::audit {

struct Selection {
    std::optional<std::int64_t> since;  // wall-clock milliseconds
    std::string who;                    // "token:ann"; empty: everybody
    enum class Outcome { any, refused } outcome = Outcome::any;
    std::size_t limit = 0;  // the newest ones; 0: all
};

// Records as they are stored, the oldest first. Lines that are not records are left out: `verify`
// names them. Memory does not grow with the log: at most `limit` lines are held.
Result<> for_each_record(const Path& home,
                         const Selection& selection,
                         const std::function<Result<>(Json record)>& visit);
// All of them at once.
Result<JsonArray> list(const Path& home, const Selection& selection);

}  // namespace ponk::audit
