// SPDX-License-Identifier: Apache-2.0
#include "output/cell.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ponk::output {

std::string brief_number(double value)
{
    auto text = number_text(value);
    if (text.size() <= 8 || !std::isfinite(value)) return text;
    auto brief = fmt::format("{:.6g}", value);
    return brief.size() < text.size() ? brief : text;
}

std::string cell_text(const Json& value)
{
    switch (value.type()) {
    case Json::Type::null:
        return {};
    case Json::Type::real:
        return brief_number(value.as_double());
    case Json::Type::string:
        return printable(value.as_string());
    default:
        return printable(to_json(value));
    }
}

std::pair<std::string_view, std::string_view> split_at_width(std::string_view text,
                                                             std::size_t width)
{
    std::size_t used = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        const auto length = std::max<std::size_t>(utf8_sequence(text.substr(at)), 1);
        used += display_width(text.substr(at, length));
        if (used > width) break;
        at += length;
    }
    return {text.substr(0, at), text.substr(at)};
}

std::pair<std::string_view, std::string_view> split_at_word(std::string_view text,
                                                            std::size_t width)
{
    const auto [line, rest] = split_at_width(text, width);
    if (rest.empty()) return {line, rest};
    if (rest.front() == ' ') return {line, rest.substr(1)};
    const auto blank = line.rfind(' ');
    if (blank == std::string_view::npos || blank < line.size() / 2) return {line, rest};
    return {line.substr(0, blank), text.substr(blank + 1)};
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width)
{
    std::vector<std::string> lines;
    do {
        auto [line, rest] = split_at_word(text, width);
        // A character that is wider than the line stays whole.
        if (line.empty() && !rest.empty()) line = rest, rest = {};
        lines.emplace_back(line);
        text = rest;
    } while (!text.empty());
    return lines;
}

std::string shortened(std::string_view text, std::size_t width, const Terminal& terminal)
{
    const auto [whole, rest] = split_at_width(text, width);
    if (rest.empty()) return std::string(text);
    const std::string_view ellipsis = terminal.utf8 ? "…" : "..";
    const auto room = display_width(ellipsis);
    if (width < room) return std::string(whole);
    return fmt::format("{}{}", split_at_width(text, width - room).first, ellipsis);
}

}  // namespace ponk::output
