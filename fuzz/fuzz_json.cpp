// SPDX-License-Identifier: Apache-2.0
// What parses must print, and what is printed must read back as the same text.
#include "base/json.hpp"
#include "work_bound.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const WorkBound bound(size);
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto value = ponk::parse_json(text);
    if (!value) return 0;
    for (const auto style : {ponk::JsonStyle::compact, ponk::JsonStyle::pretty}) {
        const auto printed = ponk::to_json(*value, style);
        const auto again = ponk::parse_json(printed);
        if (!again || ponk::to_json(*again, style) != printed) std::abort();
    }
    return 0;
}
