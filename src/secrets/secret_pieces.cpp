// SPDX-License-Identifier: Apache-2.0
#include "secrets/secret_pieces.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "secrets/redactor.hpp"

namespace ponk::secrets {

namespace {

constexpr std::size_t overlap = 32;

bool is_continuation(char byte)
{
    return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

void add_pieces(std::string_view text, std::set<std::string>& pieces)
{
    for (std::size_t at = 0; at + longest_piece < text.size(); at += longest_piece - overlap) {
        auto begin = at;
        auto end = at + longest_piece;
        for (int i = 0; i < 3 && begin > 0 && is_continuation(text[begin]); ++i)
            --begin;
        for (int i = 0; i < 3 && end < text.size() && is_continuation(text[end]); ++i)
            ++end;
        pieces.emplace(text.substr(begin, end - begin));
    }
    auto last = text.size() < longest_piece ? 0 : text.size() - longest_piece;
    for (int i = 0; i < 3 && last > 0 && is_continuation(text[last]); ++i)
        --last;
    pieces.emplace(text.substr(last));
}

void add_lines(std::string_view text, std::set<std::string>& pieces)
{
    for (const auto& line : split(text, '\n')) {
        const auto bare = trim(line);
        if (bare.size() >= shortest_part) add_pieces(bare, pieces);
    }
}

void add_texts_of_json(const Json& json, std::set<std::string>& pieces)
{
    if (json.is_string()) {
        const auto& text = json.as_string();
        if (text.size() >= shortest_part) add_pieces(text, pieces);
        add_lines(text, pieces);
    } else if (json.is_array()) {
        for (const auto& item : json.as_array())
            add_texts_of_json(item, pieces);
    } else if (json.is_object()) {
        for (const auto& [name, item] : json.as_object())
            add_texts_of_json(item, pieces);
    }
}

}  // namespace

std::set<std::string> pieces_of(std::string_view value)
{
    std::set<std::string> pieces;
    if (value.size() < shortest_redacted) return pieces;
    add_pieces(value, pieces);
    const auto bare = trim(value);
    if (bare.size() >= shortest_redacted) add_pieces(bare, pieces);
    if (bare.find('\n') != std::string_view::npos) add_lines(bare, pieces);
    if (bare.starts_with('{') || bare.starts_with('[')) {
        if (const auto json = parse_json(bare)) add_texts_of_json(*json, pieces);
    }
    return pieces;
}

}  // namespace ponk::secrets
