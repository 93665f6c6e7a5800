// SPDX-License-Identifier: Apache-2.0
#include "store/search/search_page.hpp"

#include "base/base64.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"

#include <bit>

namespace ponk::store {

namespace {

constexpr std::size_t longest_word = std::size_t{1} << 20;

// A word of another order would silently leave runs out.
std::string print_of(const std::vector<OrderColumn>& columns)
{
    std::string text;
    for (const auto& column : columns)
        text += to_text(column.key) + '\n';
    return fmt::format("{:08x}", crc32c(text));
}

Json value_json(const SqlValue& value)
{
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* number = std::get_if<double>(&value))
        return std::bit_cast<std::int64_t>(*number);
    return std::get<std::int64_t>(value);
}

std::optional<SqlValue> value_from(const Json& json, OrderColumn::Type type)
{
    if (type == OrderColumn::Type::text && json.is_string()) return json.as_string();
    if (type == OrderColumn::Type::text || !json.is_integer()) return std::nullopt;
    if (type == OrderColumn::Type::real) return std::bit_cast<double>(json.as_integer());
    return json.as_integer();
}

std::optional<Mark> mark_from(const Json& json, OrderColumn::Type type)
{
    if (!json.is_array() || json.as_array().empty() || !json.as_array()[0].is_integer())
        return std::nullopt;
    const auto& parts = json.as_array();
    const auto rank = parts[0].as_integer();
    if (rank < 0 || rank > static_cast<std::int64_t>(Rank::missing)) return std::nullopt;
    Mark mark{static_cast<Rank>(rank)};
    if (mark.rank != Rank::value) return mark;
    if (parts.size() < 2) return std::nullopt;
    mark.value = value_from(parts[1], type);
    return mark.value ? std::optional(mark) : std::nullopt;
}

std::optional<Marks> read_word(const std::vector<OrderColumn>& columns, std::string_view word)
{
    if (word.size() > longest_word) return std::nullopt;
    const auto bytes = from_base64(word);
    const auto json = bytes ? parse_json(*bytes) : Json();
    if (!json || (*json)["o"] != Json(print_of(columns)) || !(*json)["k"].is_array())
        return std::nullopt;
    const auto& parts = (*json)["k"].as_array();
    if (parts.size() != columns.size()) return std::nullopt;
    Marks marks;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto mark = mark_from(parts[i], columns[i].type);
        if (!mark) return std::nullopt;
        marks.push_back(*mark);
    }
    return marks;
}

}  // namespace

std::string page_word(const std::vector<OrderColumn>& columns, const Marks& marks)
{
    JsonArray parts;
    for (const auto& mark : marks) {
        JsonArray part{static_cast<std::int64_t>(mark.rank)};
        if (mark.value) part.push_back(value_json(*mark.value));
        parts.emplace_back(std::move(part));
    }
    return to_base64(to_json(JsonObject{{"o", print_of(columns)}, {"k", std::move(parts)}}),
                     Base64::url);
}

Result<Marks> parse_page_word(const std::vector<OrderColumn>& columns, std::string_view word)
{
    auto marks = read_word(columns, word);
    if (!marks)
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    "the page token does not belong to this search",
                                    "Request the first page again, without a token."));
    return std::move(*marks);
}

}  // namespace ponk::store
