// SPDX-License-Identifier: Apache-2.0
#include "secrets/redaction_forms.hpp"

#include "secrets/redactor.hpp"

#include <array>
#include <cstdint>

namespace ponk::secrets {

namespace {

constexpr std::string_view standard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_safe =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// Bit `index` of the value, counted from its first byte's highest; 0 past the end, as padding is.
unsigned bit(std::string_view value, std::size_t index)
{
    if (index / 8 >= value.size()) return 0;
    return (static_cast<unsigned char>(value[index / 8]) >> (7 - index % 8)) & 1U;
}

// The characters that a value determines when `before` bytes (modulo 3) precede it in what is
// encoded. With `tail` also the last one, as it is when nothing follows.
std::string
base64_part(std::string_view value, std::size_t before, std::string_view alphabet, bool with_tail)
{
    const std::size_t first_bit = 8 * before;  // of the value, within the groups of 6 bits
    const std::size_t end_bit = first_bit + 8 * value.size();
    const std::size_t begin = (first_bit + 5) / 6;
    const std::size_t end = with_tail ? (end_bit + 5) / 6 : end_bit / 6;
    std::string text;
    for (std::size_t character = begin; character < end; ++character) {
        unsigned index = 0;
        for (std::size_t i = 0; i < 6; ++i)
            index = index << 1U | bit(value, character * 6 + i - first_bit);
        text += alphabet[index];
    }
    return text;
}

struct Escape {
    std::string_view kept;    // besides letters and digits
    std::string_view digits;  // of a percent escape
    bool plus_for_space;
};

std::string percent_encoded(std::string_view value, const Escape& escape)
{
    std::string text;
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || escape.kept.find(c) != std::string_view::npos;
        if (plain) {
            text += c;
        } else if (c == ' ' && escape.plus_for_space) {
            text += '+';
        } else {
            text += '%';
            text += escape.digits[byte >> 4U];
            text += escape.digits[byte & 15U];
        }
    }
    return text;
}

}  // namespace

std::set<std::string> redaction_forms(std::string_view value)
{
    if (value.size() < shortest_redacted) return {};
    std::set<std::string> forms{std::string(value)};
    for (const auto alphabet : {standard, url_safe}) {
        for (std::size_t before = 0; before < 3; ++before) {
            forms.insert(base64_part(value, before, alphabet, false));
            forms.insert(base64_part(value, before, alphabet, true));
        }
    }
    // What RFC 3986, Python's quote and quote_plus, and JavaScript's encodeURIComponent keep.
    for (const std::string_view digits : {"0123456789ABCDEF", "0123456789abcdef"}) {
        for (const std::string_view kept : {"-._~", "-._~/", "-_.!~*'()", "-_.*"}) {
            forms.insert(percent_encoded(value, {kept, digits, false}));
            forms.insert(percent_encoded(value, {kept, digits, true}));
        }
    }
    return forms;
}

}  // namespace ponk::secrets
