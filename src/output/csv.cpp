// SPDX-License-Identifier: Apache-2.0
#include "output/csv.hpp"

#include "base/text.hpp"

namespace ponk::output {

namespace {

// "--lr 0.1", as arguments of a script begin: at worst a spreadsheet says that it knows no such
// name. With a call or a reference to something outside it is another matter.
bool is_option(std::string_view text)
{
    const auto dashes = text.find_first_not_of('-');
    if (dashes == 0 || dashes > 2 || dashes == std::string_view::npos) return false;
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto in_name = [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    };
    if (!letter(text[dashes])) return false;
    auto end = dashes;
    while (end < text.size() && in_name(text[end]))
        ++end;
    // "-A1" is a cell.
    const auto digit = text.substr(dashes, end - dashes).find_first_of("0123456789");
    if (digit != std::string_view::npos && digit <= 3) return false;
    if (end < text.size() && text[end] != ' ' && text[end] != '=') return false;
    return text.find_first_of("|!()@\"\t\r\n") == std::string_view::npos;
}

// Also what looks as if it had been guarded: whoever takes one apostrophe away has it back.
bool needs_guard(std::string_view text)
{
    constexpr std::string_view begins_formula = "=+-@\t\r";
    const auto first = text.find_first_not_of('\'');
    return first != std::string_view::npos &&
           begins_formula.find(text[first]) != std::string_view::npos &&
           (first > 0 || !(parse_real(text) || is_option(text)));
}

}  // namespace

std::string csv_field(const Json& value)
{
    if (value.is_null()) return {};
    if (value.is_number() || value.is_bool()) {
        const auto text = to_json(value);
        // NaN and infinities are texts in JSON, and plain words here.
        return text.starts_with('"') ? text.substr(1, text.size() - 2) : text;
    }
    auto text = value.is_string() ? value.as_string() : to_json(value);
    // Numbers that JSON has no words for come as texts.
    const bool number = text == "-Infinity";
    if (value.is_string() && !number && needs_guard(text)) text.insert(0, 1, '\'');
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string csv_line(const JsonArray& values)
{
    std::string line;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) line += ',';
        line += csv_field(values[i]);
    }
    return line + '\n';
}

}  // namespace ponk::output
