// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ponk {

// RFC 4648; `url` is the alphabet that needs no escapes in an address. Both are padded.
enum class Base64 { standard, url };
std::string to_base64(std::string_view bytes, Base64 alphabet = Base64::standard);
// Takes both alphabets, with padding or without; nullopt for anything else.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace ponk
