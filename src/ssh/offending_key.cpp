// SPDX-License-Identifier: Apache-2.0
#include "ssh/offending_key.hpp"

#include "base/text.hpp"
#include "ssh/host_key.hpp"

namespace ponk::ssh {

std::string offending_key(std::string_view said, const os::Path& folder)
{
    for (const auto& line : split(said, '\n')) {
        const auto at = line.find(" key in ");
        if (!line.starts_with("Offending") || at == std::string::npos) continue;
        const auto place = trim(std::string_view(line).substr(at + 8));
        const auto colon = place.rfind(':');
        if (colon == std::string_view::npos) return {};
        const auto number = parse_integer(place.substr(colon + 1));
        const auto file = folder / place.substr(0, colon);
        const auto text = os::read_file(file, largest_known_hosts);
        if (!number || *number < 1 || !text) return {};
        const auto lines = split(*text, '\n');
        if (static_cast<std::size_t>(*number) > lines.size()) return {};
        const auto keys = parse_known_hosts(lines[static_cast<std::size_t>(*number) - 1]);
        if (keys.empty()) return {};
        return fmt::format("{} {} (line {} of {})",
                           printable(keys.front().short_type()),
                           printable(keys.front().fingerprint),
                           *number,
                           os::in_quotes(file));
    }
    return {};
}

}  // namespace ponk::ssh
