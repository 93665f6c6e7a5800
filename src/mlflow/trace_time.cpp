// SPDX-License-Identifier: Apache-2.0
#include "mlflow/trace_time.hpp"

#include "base/text.hpp"
#include "base/time.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::mlflow {

namespace {

constexpr std::size_t whole_seconds = std::string_view("2026-03-01T12:30:05").size();
constexpr std::int64_t longest_seconds = 315'576'000'000;  // ten thousand years
constexpr std::size_t finest = 9;                          // digits: nanoseconds

bool is_digits(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The first three of the digits behind a point, which are none, or a point and some.
std::optional<std::int64_t> milliseconds_of(std::string_view fraction)
{
    if (fraction.empty()) return 0;
    const auto digits = fraction.substr(1);
    if (fraction.front() != '.' || digits.empty() || digits.size() > finest || !is_digits(digits))
        return std::nullopt;
    return parse_integer((std::string(digits) + "00").substr(0, 3));
}

// Of a zone as RFC 3339 writes it: Z, +02:00, -05:30.
std::optional<std::int64_t> minutes_ahead(std::string_view zone)
{
    if (zone == "Z") return 0;
    if (zone.size() != std::string_view("+02:00").size() || zone[3] != ':') return std::nullopt;
    const auto hours = zone.substr(1, 2);
    const auto minutes = zone.substr(4);
    if (!is_digits(hours) || !is_digits(minutes)) return std::nullopt;
    const auto ahead = *parse_integer(hours) * 60 + *parse_integer(minutes);
    return zone.front() == '-' ? -ahead : ahead;
}

}  // namespace

std::string trace_time_text(std::int64_t wall_ms)
{
    auto text = utc_text(wall_ms);
    const auto fraction = text.find(".000Z");
    if (fraction != std::string::npos) text.replace(fraction, std::string::npos, "Z");
    return text;
}

std::optional<std::int64_t> parse_trace_time(std::string_view text)
{
    if (text.size() <= whole_seconds) return std::nullopt;
    const auto zone = text.find_first_of("Z+-", whole_seconds);
    if (zone == std::string_view::npos) return std::nullopt;
    const auto ms = milliseconds_of(text.substr(whole_seconds, zone - whole_seconds));
    const auto ahead = minutes_ahead(text.substr(zone));
    const auto seconds = parse_utc(std::string(text.substr(0, whole_seconds)) + ".000Z");
    if (!ms || !ahead || !seconds) return std::nullopt;
    return *seconds + *ms - *ahead * 60'000;
}

std::string trace_duration_text(std::int64_t ms)
{
    if (ms % 1000 == 0) return fmt::format("{}s", ms / 1000);
    return fmt::format("{}.{:03}s", ms / 1000, ms % 1000);
}

std::optional<std::int64_t> parse_trace_duration(std::string_view text)
{
    if (!text.ends_with('s')) return std::nullopt;
    text.remove_suffix(1);
    const auto point = std::min(text.find('.'), text.size());
    const auto whole = text.substr(0, point);
    const auto seconds = is_digits(whole) ? parse_integer(whole) : std::nullopt;
    const auto ms = milliseconds_of(text.substr(point));
    if (!seconds || *seconds > longest_seconds || !ms) return std::nullopt;
    return *seconds * 1000 + *ms;
}

}  // namespace ponk::mlflow
