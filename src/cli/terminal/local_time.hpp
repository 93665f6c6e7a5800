// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"

#include <string>

// People read times of their own place, on a terminal; what programs read stays in UTC.
namespace ponk::cli {

// Whether standard output is read by a person.
bool shows_local_time();
// "2026-03-01T12:30:05.123Z" as "2026-03-01T13:30:05" in the zone of TZ or of the machine; anything
// else as it is.
std::string local_time(const std::string& utc);
// The zone at that time, as clocks there say it: "CET", "+0530"; empty when it is not a time.
std::string zone_at(const std::string& utc);

// For a sentence or a cell on a terminal "2026-03-01 13:30:05 CET"; elsewhere, and what is not a
// time, as it is.
std::string shown_time(const std::string& utc);

// Every time in a table of our own in local time, with its zone: {"created_utc": "…Z"} becomes
// {"created": "2026-03-01 13:30:05 CET"}.
Json with_local_times(const Json& rows);

}  // namespace ponk::cli
