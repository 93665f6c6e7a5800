// SPDX-License-Identifier: Apache-2.0
#include "query/search/cursor.hpp"

#include "base/text.hpp"
#include "query/fault.hpp"

#include <fmt/format.h>

namespace ponk::query::search {

namespace {

constexpr std::size_t shown_at_most = 60;  // bytes of a token in a message

std::string list_of(const std::vector<std::string>& names)
{
    return join(names, ", ");
}

std::vector<std::string> known_keys(const Family& family, Purpose purpose)
{
    std::vector<std::string> names;
    for (const auto& key : family.keys) {
        if (find_key(family, key.name, purpose)) names.emplace_back(key.name);
    }
    for (const auto& key : family.beginnings) {
        const auto name = std::string(key.name) + "NAME";
        if (find_key(family, name, purpose)) names.push_back(name);
    }
    return names;
}

}  // namespace

Result<Cursor> Cursor::open(std::string_view label, std::string_view text)
{
    return Cursor(label, text, TRY(read_tokens(label, text)));
}

std::string_view Cursor::written(const Token& token) const
{
    return text_.substr(token.at, token.length);
}

const Token& Cursor::take()
{
    const auto& token = tokens_[next_];
    if (token.kind != TokenKind::end) ++next_;
    return token;
}

bool Cursor::take_if(TokenKind wanted)
{
    if (peek().kind != wanted) return false;
    take();
    return true;
}

bool Cursor::is_keyword(const Token& token, std::string_view keyword) const
{
    return token.kind == TokenKind::name && token.quote == Quote::none && !token.rest &&
           same_ignoring_case(token.text, keyword);
}

bool Cursor::take_keyword(std::string_view keyword)
{
    if (!is_keyword(peek(), keyword)) return false;
    take();
    return true;
}

Result<Resolved> Cursor::name(const Grammar& grammar, Purpose purpose)
{
    const auto& token = peek();
    const bool bare_in_quotes = token.kind == TokenKind::text && token.quote == Quote::double_quote;
    if (token.kind != TokenKind::name && !bare_in_quotes) return no_name();
    const auto* family =
        token.rest ? find_family(grammar, token.text) : find_family(grammar, Entity::attribute);
    if (!family) return no_entity(grammar, token, purpose);
    const auto name = token.rest.value_or(token.text);
    if (name.empty()) return wrong(token.at, "a key cannot be empty");
    const auto* key = find_key(*family, name, purpose);
    if (!key) return no_key(*family, token, name, purpose);
    auto whole = is_open(*family, *key) ? std::string(name) : std::string(key->name);
    if (token.quoted_from) {
        const auto begins = key->name.size();
        const auto quotes = std::size_t{2};
        if (name.size() == *token.quoted_from + quotes)
            return wrong(token.rest_at + *token.quoted_from, "a key cannot be empty");
        if (token.quoted_from != begins)
            return wrong(token.rest_at + *token.quoted_from,
                         "only a whole key can be in quotes",
                         "Put all that follows the first dot in backticks.");
        whole = std::string(key->name) +
                std::string(name.substr(begins + 1, name.size() - begins - quotes));
    }
    take();
    return Resolved{family, key, std::move(whole), written(token)};
}

// The ways in which those begin a comparison who know SQL.
tl::unexpected<Error> Cursor::no_name() const
{
    std::string hint;
    const auto kind = peek().kind;
    if (kind == TokenKind::left_paren)
        hint = "Parentheses are not supported: all comparisons must be true.";
    if (kind == TokenKind::number || kind == TokenKind::text)
        hint = "Write the name on the left side and the value on the right.";
    return unexpected("a name", std::move(hint));
}

tl::unexpected<Error>
Cursor::no_entity(const Grammar& grammar, const Token& token, Purpose purpose) const
{
    std::vector<std::string> words;
    std::vector<std::string> first;
    for (const auto& family : grammar.families) {
        if (family.keys.empty() && !find_key(family, "", purpose)) continue;
        words.insert(words.end(), family.words.begin(), family.words.end());
        first.emplace_back(family.words.front());
    }
    const auto meant = nearest(token.text, words);
    return wrong(token.at,
                 fmt::format("{1} have no '{0}'", printable(token.text), grammar.things),
                 meant ? fmt::format("Did you mean '{}'?", *meant)
                       : fmt::format("Names begin with one of: {}.", list_of(first)));
}

tl::unexpected<Error> Cursor::no_key(const Family& family,
                                     const Token& token,
                                     std::string_view name,
                                     Purpose purpose) const
{
    const auto at = token.rest ? token.rest_at : token.at;
    if (family.keys.empty() && purpose == Purpose::filter)
        return wrong(token.at,
                     fmt::format("'{}' is only to order by", family.words.front()),
                     "A filter compares the last value: metrics.NAME.");
    if (family.keys.empty())
        return wrong(token.at, fmt::format("cannot order by '{}'", family.words.front()));
    if (is_keyword(token, "NOT"))
        return unexpected("a name", "Write the opposite comparison instead.");
    const auto& after = tokens_[next_ + 1];
    if (after.kind == TokenKind::name &&
        find_key(family, fmt::format("{} {}", name, after.text), purpose))
        return wrong(at,
                     fmt::format("put a name with a space in backticks"),
                     fmt::format("Write `{} {}`.", name, after.text));
    const auto keys = known_keys(family, purpose);
    const auto meant = nearest(name, keys);
    return wrong(at,
                 fmt::format("there is no {} '{}' to {}",
                             family.entity == Entity::dataset ? "field of a dataset" : "attribute",
                             printable(name),
                             purpose == Purpose::filter ? "compare" : "order by"),
                 meant ? fmt::format("Did you mean '{}'?", *meant)
                       : fmt::format("Allowed: {}. Values that a script logs are metrics.NAME, "
                                     "params.NAME and tags.NAME.",
                                     list_of(keys)));
}

tl::unexpected<Error> Cursor::unexpected(std::string_view wanted, std::string hint) const
{
    const auto& token = peek();
    if (token.kind == TokenKind::end)
        return wrong(
            token.at, fmt::format("expected {}, but the text ends", wanted), std::move(hint));
    const auto shown = written(token);
    return wrong(token.at,
                 fmt::format("expected {}, but found {}",
                             wanted,
                             shown.size() > shown_at_most
                                 ? printable(shown.substr(0, shown_at_most)) + "…"
                                 : fmt::format("'{}'", printable(shown))),
                 std::move(hint));
}

tl::unexpected<Error> Cursor::wrong(std::size_t at, std::string_view what, std::string hint) const
{
    return tl::unexpected(error_at(label_, text_, at, what, std::move(hint)));
}

}  // namespace ponk::query::search
