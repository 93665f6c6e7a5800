// SPDX-License-Identifier: Apache-2.0
// The redactor against a reader of our own: it decodes where the redactor follows what encoders
// write, tries every place of the text, and never sees the pieces in which the text comes.
#include "base/text.hpp"
#include "secrets/redactor.hpp"
#include "secrets/secret_pieces.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

namespace ponk::secrets {
namespace {

using Ends = std::set<std::size_t>;

struct Token {
    std::size_t size;
    std::string means;
};

std::string utf8(std::uint32_t code)
{
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800)
        return {static_cast<char>(0xc0U | code >> 6U), static_cast<char>(0x80U | (code & 63U))};
    return {static_cast<char>(0xe0U | code >> 12U),
            static_cast<char>(0x80U | (code >> 6U & 63U)),
            static_cast<char>(0x80U | (code & 63U))};
}

// A number of so many digits, in one case.
std::optional<std::uint32_t> number(std::string_view text, std::size_t digits, unsigned base)
{
    if (text.size() < digits) return std::nullopt;
    std::uint32_t value = 0;
    bool lower = false;
    bool upper = false;
    for (const char c : text.substr(0, digits)) {
        constexpr std::string_view known = "0123456789abcdef";
        lower = lower || (c >= 'a' && c <= 'f');
        upper = upper || (c >= 'A' && c <= 'F');
        const auto digit = known.find(static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c));
        if (digit >= base) return std::nullopt;
        value = value * base + static_cast<std::uint32_t>(digit);
    }
    if (lower && upper) return std::nullopt;
    return value;
}

void add_escape(std::string_view text, std::size_t skip, std::vector<Token>& tokens)
{
    const auto rest = text.substr(skip);
    if (rest.empty()) return;
    if (const auto byte = number(rest.substr(1), 2, 16); rest[0] == 'x' && byte) {
        tokens.push_back({skip + 3, {static_cast<char>(*byte)}});
        if (*byte >= 0x80) tokens.push_back({skip + 3, utf8(*byte)});
    }
    if (const auto code = number(rest.substr(1), 4, 16); rest[0] == 'u' && code)
        tokens.push_back({skip + 5, utf8(*code)});
    if (const auto byte = number(rest, 3, 8); byte && *byte < 256)
        tokens.push_back({skip + 3, {static_cast<char>(*byte)}});
    if (rest[0] == 'n') tokens.push_back({skip + 1, "\n"});
    if (rest[0] == '0') tokens.push_back({skip + 1, std::string(1, '\0')});
    const bool again = rest[0] == '"' || rest[0] == '\\';
    if (std::ispunct(static_cast<unsigned char>(rest[0])) != 0 && (skip == 1 || !again))
        tokens.push_back({skip + 1, {rest[0]}});
    if (skip == 2 && rest.starts_with("\\\"")) tokens.push_back({4, "\""});
    if (skip == 2 && rest.starts_with("\\\\")) tokens.push_back({4, "\\"});
}

// Everything that the front of the text may mean.
std::vector<Token> tokens_at(std::string_view text)
{
    if (text.empty()) return {};
    std::vector<Token> tokens{{1, {text[0]}}};
    const auto means = [&](std::string_view written, const char* meaning) {
        if (text.starts_with(written)) tokens.push_back({written.size(), meaning});
    };
    if (text[0] == '_') {
        for (const char meaning : std::string_view("\"\\'%\n"))
            tokens.push_back({1, {meaning}});
    }
    if (text[0] == '\\') add_escape(text, 1, tokens);
    if (text.starts_with("\\\\")) add_escape(text, 2, tokens);
    if (const auto byte = number(text.substr(1), 2, 16); text[0] == '%' && byte)
        tokens.push_back({3, {static_cast<char>(*byte)}});
    if (text.starts_with("%25")) {
        if (const auto byte = number(text.substr(3), 2, 16))
            tokens.push_back({5, {static_cast<char>(*byte)}});
    }
    means("%%", "%");
    means("\"\"", "\"");
    means("\\\"\\\"", "\"");
    for (const auto* quote : {"''", "'\\''", "'\\\\''", "'\"'\"'", "'\\\"'\\\"'"})
        means(quote, "'");
    return tokens;
}

void find_text(std::string_view text, std::size_t at, std::string_view wanted, Ends& ends)
{
    if (wanted.empty()) ends.insert(at);
    for (const auto& [size, meaning] : tokens_at(text.substr(at))) {
        if (!wanted.empty() && wanted.starts_with(meaning))
            find_text(text, at + size, wanted.substr(meaning.size()), ends);
    }
}

Ends gaps_at(std::string_view text, const std::vector<std::string>& others)
{
    Ends sizes{0};
    for (const auto& other : others) {
        if (text.starts_with(other)) sizes.insert(other.size());
    }
    for (const std::string_view line_break : {"\n", "\r\n", "\\n", "\\r\\n", "%0A", "%0D%0A"}) {
        if (!text.starts_with(line_break)) continue;
        for (const char blank : {' ', '\t'}) {
            for (std::size_t size = 0; size <= 8; ++size) {
                if (text.substr(line_break.size()).starts_with(std::string(size, blank)))
                    sizes.insert(line_break.size() + size);
            }
        }
    }
    return sizes;
}

void find_hex(std::string_view text, std::size_t at, std::string_view wanted, Ends& ends)
{
    std::string pair(text.substr(at, 2));
    std::transform(pair.begin(), pair.end(), pair.begin(), ::tolower);
    if (pair != to_hex(wanted.substr(0, 1))) return;
    at += 2;
    if (wanted.size() == 1) {
        ends.insert(at);
        return;
    }
    static const std::vector<std::string> separators{
        ":", "-", " ", "  ", ",", ", ", "0x", " 0x", ",0x", ", 0x", "\\x", "\\\\x"};
    for (const auto gap : gaps_at(text.substr(at), separators))
        find_hex(text, at + gap, wanted.substr(1), ends);
}

// Bits that are not determined are '?'.
std::string bits_of(std::string_view wanted, std::size_t before)
{
    std::string bits(before * 8 % 6, '?');
    for (const char c : wanted) {
        for (int i = 7; i >= 0; --i)
            bits += (static_cast<unsigned char>(c) >> i & 1) != 0 ? '1' : '0';
    }
    bits.resize((bits.size() + 5) / 6 * 6, '?');
    return bits;
}

void find_base64(std::string_view text, std::size_t at, std::string_view bits, Ends& ends)
{
    constexpr std::string_view standard =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::string_view url_safe =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (const auto& [size, meaning] : tokens_at(text.substr(at))) {
        const auto alphabet =
            std::string_view(meaning) == "-" || meaning == "_" ? url_safe : standard;
        const auto index = alphabet.find(meaning);
        const bool special = meaning == "+" || meaning == "/";
        if (meaning.size() != 1 || index == std::string_view::npos || (size > 1 && !special))
            continue;
        bool fits = true;
        for (std::size_t i = 0; i < 6; ++i)
            fits = fits && (bits[i] == '?' || (bits[i] == '1') == ((index >> (5 - i) & 1U) != 0));
        if (!fits) continue;
        const auto rest = bits.substr(6);
        if (rest.empty()) {
            ends.insert(at + size);
            continue;
        }
        if (rest.size() == 6 && rest.back() == '?') ends.insert(at + size);
        for (const auto gap : gaps_at(text.substr(at + size), {}))
            find_base64(text, at + size + gap, rest, ends);
    }
}

std::string by_decoding(const std::string& value, const std::string& text)
{
    std::vector<bool> marked(text.size());
    for (const auto& piece : pieces_of(value)) {
        for (std::size_t at = 0; at < text.size(); ++at) {
            Ends ends;
            find_text(text, at, piece, ends);
            find_hex(text, at, piece, ends);
            for (std::size_t before = 0; before < 3; ++before) {
                const auto bits = bits_of(piece, before);
                find_base64(text, at, bits, ends);
                if (bits.starts_with('?')) find_base64(text, at, bits.substr(6), ends);
            }
            if (!ends.empty()) {
                std::fill(marked.begin() + static_cast<std::ptrdiff_t>(at),
                          marked.begin() + static_cast<std::ptrdiff_t>(*ends.rbegin()),
                          true);
            }
        }
    }
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!marked[i]) out += text[i];
        if (marked[i] && (i == 0 || !marked[i - 1])) out += Redactor::mask;
    }
    return out;
}

std::string
in_pieces(const std::string& value, std::string_view text, const std::vector<int>& sizes)
{
    Redactor redactor(std::make_shared<const RedactionPatterns>(std::vector{value}));
    std::string out;
    for (const int size : sizes) {
        const auto piece = text.substr(0, static_cast<std::size_t>(size));
        out += redactor.feed(piece);
        text.remove_prefix(piece.size());
    }
    out += redactor.feed(text);
    out += redactor.finish();
    return out;
}

rc::Gen<std::vector<int>> sizes()
{
    return rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 9));
}

// One of the ways to write a byte, and sometimes nonsense.
rc::Gen<std::string> written(char byte)
{
    const auto code = static_cast<unsigned char>(byte);
    std::vector<std::string> ways{std::string(1, byte),
                                  std::string(1, byte),
                                  fmt::format("%{:02x}", code),
                                  fmt::format("%{:02X}", code),
                                  fmt::format("\\x{:02x}", code),
                                  fmt::format("\\u{:04x}", code),
                                  fmt::format("\\\\u{:04X}", code),
                                  fmt::format("\\{:03o}", code)};
    if (std::ispunct(code) != 0) ways.push_back(fmt::format("\\{}", byte));
    if (byte == '"') ways.emplace_back("\\\\\\\"");
    if (byte == '\\') ways.emplace_back("\\\\\\\\");
    if (byte == '\n') ways.emplace_back("\\n");
    if (byte == '\'') ways.emplace_back("'\"'\"'");
    if (std::isalnum(code) == 0) ways.emplace_back("_");
    ways.emplace_back("\\");
    return rc::gen::elementOf(ways);
}

RC_GTEST_PROP(RedactorProperty, EscapedTextInAnyCutIsWhatADecoderFinds, ())
{
    const auto letter = rc::gen::element('a', '"', '\\', '\'', '%', '\n', '6');
    const auto value =
        *rc::gen::suchThat(rc::gen::scale(0.08, rc::gen::container<std::string>(letter)),
                           [](const auto& text) { return text.size() >= shortest_redacted; });
    std::string text;
    const int repeats = *rc::gen::inRange(1, 4);
    for (int i = 0; i < repeats; ++i) {
        text += *rc::gen::scale(0.05, rc::gen::container<std::string>(letter));
        for (const char byte : value)
            text += *written(byte);
    }

    RC_ASSERT(in_pieces(value, text, *sizes()) == by_decoding(value, text));
}

std::string base64(std::string_view bytes, std::size_t columns, const std::string& line_break)
{
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string out;
    const auto bits = bits_of(bytes, 0);
    for (std::size_t at = 0; at < bits.size(); at += 6) {
        std::size_t index = 0;
        for (std::size_t i = 0; i < 6; ++i)
            index = index * 2 + (bits[at + i] == '1' ? 1U : 0U);
        if (at > 0 && at / 6 % columns == 0) out += line_break;
        out += alphabet[index];
    }
    return out;
}

RC_GTEST_PROP(RedactorProperty, EncodedTextInAnyCutIsWhatADecoderFinds, ())
{
    const auto value = *rc::gen::suchThat(rc::gen::arbitrary<std::string>(), [](const auto& text) {
        return text.size() >= shortest_redacted && text.size() < 80;
    });
    const auto before = *rc::gen::scale(0.1, rc::gen::arbitrary<std::string>());
    const auto after = *rc::gen::scale(0.1, rc::gen::arbitrary<std::string>());
    const auto columns = *rc::gen::element<std::size_t>(4, 10, 76);
    const auto line_break = *rc::gen::element<std::string>("\n", "\r\n", "\\n", "\n  ", "\n\n");
    const auto hex = to_hex(before + value + after);
    const auto text =
        "x=" +
        (*rc::gen::arbitrary<bool>() ? hex : base64(before + value + after, columns, line_break));

    const auto out = in_pieces(value, text, *sizes());

    RC_ASSERT(out == by_decoding(value, text));
    if (line_break != "\n\n") RC_ASSERT(out != text);
}

}  // namespace
}  // namespace ponk::secrets
