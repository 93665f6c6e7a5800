// SPDX-License-Identifier: Apache-2.0
// Git's configuration files, of anybody's repository.
#include "config/git/git_settings.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::size_t length = 0;
    for (const auto& setting : ponk::config::parse_git_settings(text).settings) {
        if (setting.key.empty() || setting.section.empty()) __builtin_trap();
        length += setting.key.size() + setting.value.size();
    }
    if (length > size) __builtin_trap();
    return 0;
}
