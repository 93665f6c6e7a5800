// SPDX-License-Identifier: Apache-2.0
#include "output/csv.hpp"

#include "base/text.hpp"

namespace ponk::output {

namespace {

bool is_formula(std::string_view text)
{
    constexpr std::string_view begins_one = "=+-@\t\r";
    return !text.empty() && begins_one.find(text.front()) != std::string_view::npos &&
           !parse_real(text);
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
    if (value.is_string() && !number && is_formula(text)) text.insert(0, 1, '\'');
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
