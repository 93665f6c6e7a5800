// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "audit/log_files.hpp"

#include <optional>
#include <string>

namespace ponk::audit {

struct LastRecord {
    Head head;
    std::string time;  // as it is written
};
// The last whole record of a file; nullopt when it has none. One that was changed counts by what it
// says about itself, or not at all: who verifies the log finds the place.
Result<std::optional<LastRecord>> find_last_record(const LogFile& file);

// Removes what follows the last line feed; returns how many bytes that were.
Result<std::uint64_t> cut_torn_line(const LogFile& file);

}  // namespace ponk::audit
