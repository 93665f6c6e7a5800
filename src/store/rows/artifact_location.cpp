// SPDX-License-Identifier: Apache-2.0
#include "store/rows/artifact_location.hpp"

#include <fmt/format.h>

namespace ponk::store {

std::string artifact_location(std::int64_t experiment, const std::string& location)
{
    return location.empty() ? fmt::format("{}{}", artifact_root, experiment) : location;
}

std::string below_location(std::string_view location, std::string_view inside)
{
    // In a path, which has no scheme, a question mark is a letter like others.
    // artifact_column() says the same in SQL.
    const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
    const auto question = location.find('?');
    const bool is_address = !location.empty() && is_letter(location.front()) &&
                            location.substr(0, question).find(':') != std::string_view::npos;
    const auto path = is_address ? location.substr(0, question) : location;
    return fmt::format(
        "{}{}{}{}", path, path.ends_with('/') ? "" : "/", inside, location.substr(path.size()));
}

}  // namespace ponk::store
