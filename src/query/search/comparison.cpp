// SPDX-License-Identifier: Apache-2.0
#include "query/search/comparison.hpp"

#include "query/search/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::query::search {

namespace {

std::string quoted(std::string_view text, std::string_view quotes)
{
    const auto fits = [text](char quote) { return text.find(quote) == std::string_view::npos; };
    const auto found = std::find_if(quotes.begin(), quotes.end(), fits);
    const char quote = found == quotes.end() ? quotes.front() : *found;
    return fmt::format("{}{}{}", quote, text, quote);
}

// Attributes stand alone: not every kind of thing knows the same words for them.
std::string name_text(Entity entity, const std::string& key)
{
    const auto shown = is_plain_key(key) ? key : quoted(key, "`\"'");
    return entity == Entity::attribute ? shown : fmt::format("{}.{}", to_string(entity), shown);
}

std::string value_text(const Value& value)
{
    if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text, "'\"");
    std::string list;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
        for (const auto& text : *texts)
            list += (list.empty() ? "" : ", ") + quoted(text, "'\"");
    }
    return "(" + list + ")";
}

}  // namespace

std::string_view to_string(Entity entity)
{
    switch (entity) {
    case Entity::attribute:
        return "attributes";
    case Entity::metric:
        return "metrics";
    case Entity::lowest:
        return "min";
    case Entity::highest:
        return "max";
    case Entity::best:
        return "best";
    case Entity::param:
        return "params";
    case Entity::tag:
        return "tags";
    case Entity::dataset:
        return "datasets";
    case Entity::span:
        return "span";
    case Entity::feedback:
        return "feedback";
    case Entity::expectation:
        return "expectation";
    case Entity::issue:
        return "issue";
    case Entity::assessment:
        return "assessment";
    }
    return "attributes";
}

std::string_view to_string(Operator op)
{
    switch (op) {
    case Operator::equal:
        return "=";
    case Operator::not_equal:
        return "!=";
    case Operator::greater:
        return ">";
    case Operator::greater_equal:
        return ">=";
    case Operator::less:
        return "<";
    case Operator::less_equal:
        return "<=";
    case Operator::like:
        return "LIKE";
    case Operator::ilike:
        return "ILIKE";
    case Operator::in:
        return "IN";
    case Operator::not_in:
        return "NOT IN";
    case Operator::is_null:
        return "IS NULL";
    case Operator::is_not_null:
        return "IS NOT NULL";
    }
    return "=";
}

std::string to_text(const Comparison& comparison)
{
    auto text = fmt::format(
        "{} {}", name_text(comparison.entity, comparison.key), to_string(comparison.op));
    if (!std::holds_alternative<std::monostate>(comparison.value))
        text += " " + value_text(comparison.value);
    return text;
}

std::string to_text(const Filter& filter)
{
    std::string text;
    for (const auto& comparison : filter)
        text += (text.empty() ? "" : " AND ") + to_text(comparison);
    return text;
}

std::string to_text(const OrderKey& key)
{
    return name_text(key.entity, key.key) +
           (key.direction == Direction::ascending ? " ASC" : " DESC");
}

}  // namespace ponk::query::search
