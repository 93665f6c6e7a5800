// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Times and durations as traces have them. Finer parts than milliseconds are cut off.
namespace ponk::mlflow {

// "2026-03-01T12:30:05.123Z"; without the point where there is nothing behind it.
std::string trace_time_text(std::int64_t wall_ms);
// Any number of digits behind the point, or none.
std::optional<std::int64_t> parse_trace_time(std::string_view text);

// "0.091s"
std::string trace_duration_text(std::int64_t ms);
std::optional<std::int64_t> parse_trace_duration(std::string_view text);

}  // namespace ponk::mlflow
