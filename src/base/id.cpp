// SPDX-License-Identifier: Apache-2.0
#include "base/id.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"

#include <algorithm>

namespace ponk {

RunId RunId::make()
{
    auto bytes = random_bytes(16);
    const auto now = static_cast<std::uint64_t>(wall_milliseconds());
    for (std::size_t i = 0; i < 6; ++i)
        bytes[i] = static_cast<char>(now >> (8 * (5 - i)));
    bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x70);
    bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
    return RunId(to_hex(bytes));
}

Result<RunId> RunId::parse(std::string_view text)
{
    const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (text.size() != 32 || !std::all_of(text.begin(), text.end(), hex)) {
        return fail(ErrorKind::invalid_argument,
                    "'{}' is not a run id (32 hex digits)",
                    printable(text.substr(0, 80)));
    }
    return RunId(std::string(text));
}

}  // namespace ponk
