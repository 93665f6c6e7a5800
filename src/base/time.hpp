// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ponk {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline after(std::chrono::milliseconds span)
{
    return std::chrono::steady_clock::now() + span;
}

// Milliseconds since 1970 by the wall clock: for display and for ids, never for durations.
std::int64_t wall_milliseconds();
// Milliseconds of CLOCK_BOOTTIME: for durations on one machine; goes on while it sleeps.
std::int64_t boot_milliseconds();

// "2026-03-01T12:30:05.123Z"
std::string utc_text(std::int64_t wall_ms);
std::optional<std::int64_t> parse_utc(std::string_view text);
// The same as people and spreadsheets write it: with a blank for the T, without the Z, or without
// parts from the end: "2026-03-01", "2026-03-01 12:30".
std::optional<std::int64_t> parse_written_time(std::string_view text);
// "0:00:05.123" as the predecessor printed durations.
std::string duration_text(std::int64_t ms);
// "5 s", "3 min", "2 h": for tables.
std::string brief_duration_text(std::int64_t ms);

}  // namespace ponk
