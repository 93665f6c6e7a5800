// SPDX-License-Identifier: Apache-2.0
#include "base/time.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <ctime>

namespace ponk {

namespace {

std::int64_t milliseconds_of(clockid_t clock)
{
    timespec now{};
    ::clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

std::int64_t wall_milliseconds()
{
    return milliseconds_of(CLOCK_REALTIME);
}

std::int64_t boot_milliseconds()
{
    return milliseconds_of(CLOCK_BOOTTIME);
}

std::string utc_text(std::int64_t wall_ms)
{
    auto seconds = static_cast<std::time_t>(wall_ms / 1000);
    auto rest = wall_ms % 1000;
    if (rest < 0) {
        rest += 1000;
        --seconds;
    }
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                       parts.tm_year + 1900,
                       parts.tm_mon + 1,
                       parts.tm_mday,
                       parts.tm_hour,
                       parts.tm_min,
                       parts.tm_sec,
                       rest);
}

std::optional<std::int64_t> parse_utc(std::string_view text)
{
    std::tm parts{};
    int ms = 0;
    char end = 0;
    const std::string copy(text);
    const int fields = std::sscanf(copy.c_str(),
                                   "%4d-%2d-%2dT%2d:%2d:%2d.%3d%c",
                                   &parts.tm_year,
                                   &parts.tm_mon,
                                   &parts.tm_mday,
                                   &parts.tm_hour,
                                   &parts.tm_min,
                                   &parts.tm_sec,
                                   &ms,
                                   &end);
    if (fields != 8 || end != 'Z' || text.size() != 24) return std::nullopt;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    const auto time = std::int64_t{::timegm(&parts)} * 1000 + ms;
    if (utc_text(time) != text) return std::nullopt;  // the 31st of June
    return time;
}

std::optional<std::int64_t> parse_written_time(std::string_view text)
{
    constexpr std::string_view midnight = "T00:00:00.000";
    constexpr std::size_t day = 10;
    std::string whole(text);
    if (whole.ends_with('Z')) whole.pop_back();
    if (whole.size() > day && whole[day] == ' ') whole[day] = 'T';
    constexpr std::size_t seconds = std::string_view("2026-03-01T12:30:05").size();
    const bool ends_between = whole.size() > seconds || (whole.size() - day) % 3 == 0;
    if (whole.size() < day || !ends_between) return std::nullopt;
    if (whole.size() < day + midnight.size()) whole += midnight.substr(whole.size() - day);
    return parse_utc(whole + 'Z');
}

std::string duration_text(std::int64_t ms)
{
    const auto seconds = ms / 1000;
    return fmt::format(
        "{}:{:02}:{:02}.{:03}", seconds / 3600, seconds / 60 % 60, seconds % 60, ms % 1000);
}

std::string brief_duration_text(std::int64_t ms)
{
    if (ms < 1000) return fmt::format("{} ms", ms);
    if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
    if (ms < 3'600'000) return fmt::format("{} min {} s", ms / 60'000, ms / 1000 % 60);
    return fmt::format("{} h {} min", ms / 3'600'000, ms / 60'000 % 60);
}

}  // namespace ponk
