// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/local_time.hpp"

#include "base/time.hpp"

#include <fmt/format.h>

#include <ctime>
#include <optional>
#include <unistd.h>

namespace ponk::cli {
namespace {

constexpr std::string_view utc_suffix = "_utc";

std::optional<std::tm> local_clock(const std::string& utc)
{
    // Only what utc_text writes: a script's own text stays its own.
    if (utc.size() < 20 || utc.size() > 24 || utc[10] != 'T' || utc.back() != 'Z')
        return std::nullopt;
    const auto ms = parse_utc(utc);
    if (!ms) return std::nullopt;
    const auto since_1970 = static_cast<std::time_t>(*ms / 1000);
    std::tm clock{};
    ::tzset();
    if (::localtime_r(&since_1970, &clock) == nullptr) return std::nullopt;
    return clock;
}

std::string written(const std::tm& clock, char between)
{
    return fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}",
                       clock.tm_year + 1900,
                       clock.tm_mon + 1,
                       clock.tm_mday,
                       between,
                       clock.tm_hour,
                       clock.tm_min,
                       clock.tm_sec);
}

}  // namespace

bool shows_local_time()
{
    return ::isatty(STDOUT_FILENO) == 1;
}

std::string local_time(const std::string& utc)
{
    const auto clock = local_clock(utc);
    return clock ? written(*clock, 'T') : utc;
}

std::string zone_at(const std::string& utc)
{
    const auto clock = local_clock(utc);
    return clock ? std::string(clock->tm_zone) : std::string();
}

std::string shown_time(const std::string& utc)
{
    const auto clock = shows_local_time() ? local_clock(utc) : std::nullopt;
    return clock ? written(*clock, ' ') + " " + clock->tm_zone : utc;
}

Json with_local_times(const Json& rows)
{
    if (rows.is_array()) {
        JsonArray shown;
        for (const Json& one : rows.as_array())
            shown.push_back(with_local_times(one));
        return shown;
    }
    if (rows.is_string()) {
        const auto clock = local_clock(rows.as_string());
        return clock ? Json(written(*clock, ' ') + " " + clock->tm_zone) : rows;
    }
    if (!rows.is_object()) return rows;
    JsonObject shown;
    for (const auto& [key, value] : rows.as_object()) {
        Json here = with_local_times(value);
        const bool told = value.is_string() && key.ends_with(utc_suffix) && !(here == value);
        shown.set(told ? key.substr(0, key.size() - utc_suffix.size()) : key, std::move(here));
    }
    return shown;
}

}  // namespace ponk::cli
