// SPDX-License-Identifier: Apache-2.0
#include "base/base64.hpp"

#include <cstdint>

namespace ponk {

namespace {

constexpr std::string_view standard_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::optional<std::uint32_t> value_of(char letter)
{
    if (letter == '-') return 62;
    if (letter == '_') return 63;
    const auto at = standard_letters.find(letter);
    if (at == std::string_view::npos) return std::nullopt;
    return static_cast<std::uint32_t>(at);
}

}  // namespace

std::string to_base64(std::string_view bytes, Base64 alphabet)
{
    const auto letters = alphabet == Base64::url ? url_letters : standard_letters;
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        const auto count = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t k = 0; k < 3; ++k)
            group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k)
            text += k <= count ? letters[group >> (18 - 6 * k) & 63U] : '=';
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text)
{
    while (text.ends_with('='))
        text.remove_suffix(1);
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t held = 0;
    unsigned bits = 0;
    for (const char letter : text) {
        const auto value = value_of(letter);
        if (!value) return std::nullopt;
        held = held << 6 | *value;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>(held >> bits & 0xFFU);
    }
    return bytes;
}

}  // namespace ponk
