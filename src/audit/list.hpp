// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "audit/log_files.hpp"

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
// names them.
Result<JsonArray> list(const Path& home, const Selection& selection);

}  // namespace ponk::audit
