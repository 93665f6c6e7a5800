// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include "base/work_count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace ponk {

std::size_t utf8_sequence(std::string_view text)
{
    if (text.empty()) return 0;
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto first = at(0);
    if (first < 0x80) return 1;
    std::size_t length = 0;
    std::uint32_t code = 0;
    std::uint32_t smallest = 0;
    if (first >= 0xc2 && first <= 0xdf) {
        length = 2;
        code = first & 0x1fU;
        smallest = 0x80;
    } else if (first >= 0xe0 && first <= 0xef) {
        length = 3;
        code = first & 0x0fU;
        smallest = 0x800;
    } else if (first >= 0xf0 && first <= 0xf4) {
        length = 4;
        code = first & 0x07U;
        smallest = 0x10000;
    } else {
        return 0;
    }
    if (text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((at(i) & 0xc0U) != 0x80) return 0;
        code = (code << 6U) | (at(i) & 0x3fU);
    }
    if (code < smallest || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
    return length;
}

bool is_utf8(std::string_view text)
{
    while (!text.empty()) {
        const auto length = utf8_sequence(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

void append_utf8(std::string& out, std::uint32_t code)
{
    const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0U | (code >> 6U));
        put(0x80U | (code & 0x3fU));
    } else if (code < 0x10000) {
        put(0xe0U | (code >> 12U));
        put(0x80U | ((code >> 6U) & 0x3fU));
        put(0x80U | (code & 0x3fU));
    } else {
        put(0xf0U | (code >> 18U));
        put(0x80U | ((code >> 12U) & 0x3fU));
        put(0x80U | ((code >> 6U) & 0x3fU));
        put(0x80U | (code & 0x3fU));
    }
}

namespace {

std::uint32_t decode(std::string_view text, std::size_t length)
{
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (length == 1) return at(0);
    std::uint32_t code = at(0) & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i)
        code = (code << 6U) | (at(i) & 0x3fU);
    return code;
}

std::size_t width_of(std::uint32_t code)
{
    if ((code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200f) || code == 0xfeff ||
        (code >= 0xfe00 && code <= 0xfe0f))
        return 0;
    const bool wide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
                      (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
                      (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
                      (code >= 0xffe0 && code <= 0xffe6) || (code >= 0x1f300 && code <= 0x1faff) ||
                      (code >= 0x20000 && code <= 0x3fffd);
    return wide ? 2 : 1;
}

// Marks that make a terminal show the text around them in another order, or break the line.
bool changes_direction(std::uint32_t code)
{
    return code == 0x061c || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

template <class Visit>
void each_character(std::string_view text, Visit visit)
{
    while (!text.empty()) {
        const auto length = utf8_sequence(text);
        visit(text.substr(0, std::max<std::size_t>(length, 1)), length != 0);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
}

}  // namespace

std::size_t utf8_length(std::string_view text)
{
    std::size_t count = 0;
    each_character(text, [&](std::string_view, bool) { ++count; });
    return count;
}

std::string first_characters(std::string text, std::size_t most)
{
    if (text.size() <= most) return text;
    std::size_t end = 0;
    for (std::size_t count = 0; count < most && end < text.size(); ++count)
        end += std::max<std::size_t>(1, utf8_sequence(std::string_view(text).substr(end)));
    text.resize(end);
    return text;
}

std::size_t display_width(std::string_view text)
{
    std::size_t width = 0;
    each_character(text, [&](std::string_view character, bool valid) {
        width += valid ? width_of(decode(character, character.size())) : 1;
    });
    return width;
}

std::vector<std::string> split(std::string_view text, char separator)
{
    std::vector<std::string> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator)
{
    return fmt::format("{}", fmt::join(parts, separator));
}

std::string_view trim(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r\n\v\f";
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string_view without_byte_order_mark(std::string_view text)
{
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (text.starts_with(mark)) text.remove_prefix(mark.size());
    return text;
}

namespace {

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string lower(std::string_view text)
{
    std::string out(text);
    for (auto& c : out)
        c = lower(c);
    return out;
}

bool same_ignoring_case(std::string_view left, std::string_view right)
{
    return std::equal(
        left.begin(), left.end(), right.begin(), right.end(), [](char one, char other) {
            return lower(one) == lower(other);
        });
}

std::string printable(std::string_view text)
{
    std::string out;
    each_character(text, [&](std::string_view character, bool valid) {
        const auto byte = static_cast<unsigned char>(character[0]);
        if (character == "\n") {
            out += "\\n";
        } else if (character == "\t") {
            out += "\\t";
        } else if (character == "\r") {
            out += "\\r";
        } else if (!valid || byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\x{:02x}", byte);
        } else if (character.size() == 2 && byte == 0xc2 &&
                   static_cast<unsigned char>(character[1]) < 0xa0) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(character[1]));  // C1
        } else if (valid && changes_direction(decode(character, character.size()))) {
            out += fmt::format("\\u{:04x}", decode(character, character.size()));
        } else {
            out += character;
        }
    });
    return out;
}

std::string shell_word(std::string_view text)
{
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_-./=:@%+,";
    if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos)
        return std::string(text);
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
        } else {
            out += c;
        }
    }
    return out + "'";
}

std::optional<std::int64_t> parse_integer(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<double> parse_real(std::string_view text)
{
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string byte_size_text(std::uint64_t bytes)
{
    constexpr std::array<const char*, 6> units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    if (bytes < 1024) return fmt::format("{} bytes", bytes);
    auto amount = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (amount >= 1024 && unit + 1 < units.size()) {
        amount /= 1024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", amount, units.at(unit));
}

std::size_t edit_distance(std::string_view left, std::string_view right)
{
    std::vector<std::size_t> before(right.size() + 1);
    std::vector<std::size_t> previous(right.size() + 1);
    std::vector<std::size_t> current(right.size() + 1);
    for (std::size_t j = 0; j <= right.size(); ++j)
        previous[j] = j;
    for (std::size_t i = 1; i <= left.size(); ++i) {
        current[0] = i;
        for (std::size_t j = 1; j <= right.size(); ++j) {
            const std::size_t changed = left[i - 1] == right[j - 1] ? 0 : 1;
            current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + changed});
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
                current[j] = std::min(current[j], before[j - 2] + 1);
        }
        std::swap(before, previous);
        std::swap(previous, current);
    }
    return previous[right.size()];
}

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates)
{
    // A hint is not worth more: a run may have a hundred thousand files, and a word any length.
    constexpr std::size_t most_cells = 2'000'000;
    const auto wanted = lower(word);
    std::optional<std::string> best;
    auto best_distance = std::max<std::size_t>(wanted.size() / 3, 1) + 1;
    std::size_t cells = 0;
    for (const auto& candidate : candidates) {
        // As many letters have to be added or taken away.
        if (std::max(candidate.size(), wanted.size()) >=
            std::min(candidate.size(), wanted.size()) + best_distance)
            continue;
        const auto cost = (candidate.size() + 1) * (wanted.size() + 1);
        if (cost > most_cells - cells) break;
        cells += cost;
        count_work(cost);
        const auto distance = edit_distance(wanted, lower(candidate));
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

std::string to_hex(std::string_view bytes)
{
    std::string out;
    out.reserve(bytes.size() * 2);
    constexpr std::string_view digits = "0123456789abcdef";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += digits[byte >> 4U];
        out += digits[byte & 0xfU];
    }
    return out;
}

std::optional<std::string> from_hex(std::string_view text)
{
    if (text.size() % 2 != 0) return std::nullopt;
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        unsigned value = 0;
        const auto* begin = text.data() + i;
        const auto [end, problem] = std::from_chars(begin, begin + 2, value, 16);
        if (problem != std::errc{} || end != begin + 2) return std::nullopt;
        out += static_cast<char>(value);
    }
    return out;
}

}  // namespace ponk
