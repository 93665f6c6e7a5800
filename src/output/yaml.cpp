// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "output/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace ponk::output {

namespace {

constexpr std::size_t longest_simple_key = 1000;  // YAML allows 1024 characters before the colon

bool is_word_of_yaml(std::string_view text)
{
    // Words that one version of YAML or another reads as null, a boolean or something special.
    constexpr std::array<std::string_view, 12> words{
        "null", "~", "true", "false", "yes", "no", "on", "off", "y", "n", "=", "<<"};
    return std::any_of(words.begin(), words.end(), [text](std::string_view word) {
        return same_ignoring_case(word, text);
    });
}

// Numbers in all their notations, dates and times are made of these characters only.
bool may_be_a_number(std::string_view text)
{
    constexpr std::string_view beginnings = "0123456789+-.";
    constexpr std::string_view parts = "0123456789+-._:,abcdefABCDEFoOxXtTzZinINnaNA ";
    return beginnings.find(text.front()) != std::string_view::npos &&
           text.find_first_not_of(parts) == std::string_view::npos;
}

// Characters that YAML forbids or breaks lines at, and bytes that are no UTF-8.
bool needs_escapes(std::string_view text)
{
    while (!text.empty()) {
        const auto length = utf8_sequence(text);
        const auto character = text.substr(0, length);
        const auto byte = static_cast<unsigned char>(text.front());
        if (length == 0 || (byte < 0x20 && byte != '\n') || byte == 0x7f) return true;
        if (length == 2 && byte == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0) return true;
        if (character == "\xe2\x80\xa8" || character == "\xe2\x80\xa9" ||  // line separators
            character == "\xef\xbb\xbf" || character == "\xef\xbf\xbe" ||  // byte order marks
            character == "\xef\xbf\xbf")
            return true;
        text.remove_prefix(length);
    }
    return false;
}

bool fits_plain(std::string_view text)
{
    constexpr std::string_view safe_beginnings = "/_.(";
    if (text.empty() || needs_escapes(text)) return false;
    const auto first = static_cast<unsigned char>(text.front());
    const bool letter = (first | 0x20U) >= 'a' && (first | 0x20U) <= 'z';
    const bool digit = first >= '0' && first <= '9';
    if (!letter && !digit && first < 0x80 &&
        safe_beginnings.find(text.front()) == std::string_view::npos)
        return false;
    return text.find('\n') == std::string_view::npos && text.find(": ") == std::string_view::npos &&
           text.find(" #") == std::string_view::npos && text.back() != ':' && text.back() != ' ' &&
           text.substr(0, 3) != "..." && !is_word_of_yaml(text) && !may_be_a_number(text);
}

// Several lines that may stand below the key as they are.
bool fits_block(std::string_view text)
{
    const auto first_break = text.find('\n');
    return first_break != std::string_view::npos && first_break > 0 && text.front() != ' ' &&
           text.front() != '\t' && text.find('\n') + 1 < text.size() && !text.ends_with("\n\n") &&
           !needs_escapes(text);
}

// JSON's quoting is YAML's too, but for a few characters that only YAML objects to.
std::string quoted(std::string_view text)
{
    std::string out;
    std::string_view json_rest;
    const auto json = to_json(Json(text));
    for (json_rest = json; !json_rest.empty();) {
        const auto length = std::max<std::size_t>(utf8_sequence(json_rest), 1);
        const auto character = json_rest.substr(0, length);
        if (length > 1 && needs_escapes(character)) {
            const auto byte = [&](std::size_t i) {
                return static_cast<unsigned>(static_cast<unsigned char>(character[i]));
            };
            const auto code = length == 2 ? ((byte(0) & 0x1fU) << 6U) | (byte(1) & 0x3fU)
                                          : ((byte(0) & 0x0fU) << 12U) | ((byte(1) & 0x3fU) << 6U) |
                                                (byte(2) & 0x3fU);
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
        } else {
            out += character;
        }
        json_rest.remove_prefix(length);
    }
    return out;
}

std::string text_scalar(std::string_view text)
{
    return fits_plain(text) ? std::string(text) : quoted(text);
}

std::string real_scalar(double value)
{
    if (std::isnan(value)) return ".nan";
    if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
    auto text = number_text(value);
    // YAML 1.1 takes 1e+300 for a text.
    const auto exponent = text.find('e');
    if (exponent != std::string::npos && text.find('.') == std::string::npos)
        text.insert(exponent, ".0");
    return text;
}

std::string scalar(const Json& value)
{
    switch (value.type()) {
    case Json::Type::string:
        return text_scalar(value.as_string());
    case Json::Type::real:
        return real_scalar(value.as_double());
    default:
        return to_json(value);  // also {} and []
    }
}

bool has_lines(const Json& value)
{
    return (value.is_array() && !value.as_array().empty()) ||
           (value.is_object() && !value.as_object().empty());
}

class Writer {
public:
    std::string document(const Json& value)
    {
        if (has_lines(value)) {
            write_lines(value, 0);
        } else {
            out_ += scalar(value) + '\n';
        }
        return std::move(out_);
    }

private:
    // The elements or members of `value`, whose first line is already indented.
    void write_lines(const Json& value, std::size_t indent)
    {
        bool first = true;
        const auto start = [&] {
            if (!first) out_.append(indent, ' ');
            first = false;
        };
        if (value.is_array()) {
            for (const auto& item : value.as_array()) {
                start();
                write_item(item, indent);
            }
            return;
        }
        for (const auto& [key, member] : value.as_object()) {
            start();
            write_member(key, member, indent);
        }
    }

    void write_item(const Json& item, std::size_t indent)
    {
        out_ += "- ";
        if (has_lines(item)) {
            write_lines(item, indent + 2);
        } else {
            write_scalar(item, indent + 2);
        }
    }

    void write_member(const std::string& key, const Json& member, std::size_t indent)
    {
        const auto name = text_scalar(key);
        if (name.size() > longest_simple_key) {
            out_ += "? " + name + '\n';
            out_.append(indent, ' ');
        } else {
            out_ += name;
        }
        out_ += ':';
        if (has_lines(member)) {
            out_ += '\n';
            out_.append(indent + 2, ' ');
            write_lines(member, indent + 2);
        } else {
            out_ += ' ';
            write_scalar(member, indent + 2);
        }
    }

    void write_scalar(const Json& value, std::size_t indent)
    {
        if (!value.is_string() || !fits_block(value.as_string())) {
            out_ += scalar(value) + '\n';
            return;
        }
        std::string_view text = value.as_string();
        out_ += text.ends_with('\n') ? "|\n" : "|-\n";
        if (text.ends_with('\n')) text.remove_suffix(1);
        for (const auto& line : split(text, '\n')) {
            if (!line.empty()) out_.append(indent, ' ');
            out_ += line + '\n';
        }
    }

    std::string out_;
};

}  // namespace

std::string render_yaml(const Json& document)
{
    return Writer().document(document);
}

}  // namespace ponk::output
