// SPDX-License-Identifier: Apache-2.0
// The first line is a path, the rest are rules: no crash, no long thought, and the answer for a
// path agrees with the answers for the folders above it.
#include "config/ignore/ignore_rules.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using ponk::config::IgnoreRules;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return 0;
    const auto path = text.substr(0, newline);
    const auto rules = IgnoreRules::parse(text.substr(newline + 1));
    const bool ignored = rules.ignores(path, false);
    const std::size_t slash = path.rfind('/');
    const bool above =
        slash != std::string_view::npos && rules.ignores(path.substr(0, slash), true);
    if (ignored != (above || rules.ignores_entry(path, false))) std::abort();
    return 0;
}
