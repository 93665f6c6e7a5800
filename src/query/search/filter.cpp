// SPDX-License-Identifier: Apache-2.0
#include "query/search/filter.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "model/metric_direction.hpp"
#include "query/search/cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ponk::query::search {

namespace {

struct Symbol {
    std::string_view text;
    Operator op;
};

constexpr std::array symbols{
    Symbol{"=", Operator::equal},
    Symbol{"!=", Operator::not_equal},
    Symbol{">", Operator::greater},
    Symbol{">=", Operator::greater_equal},
    Symbol{"<", Operator::less},
    Symbol{"<=", Operator::less_equal},
};

std::string names_of(Operators operators)
{
    std::vector<std::string> names;
    for (unsigned i = 0; i <= static_cast<unsigned>(Operator::is_not_null); ++i) {
        const auto op = static_cast<Operator>(i);
        if (has(operators, op)) names.emplace_back(to_string(op));
    }
    return join(names, ", ");
}

class Parser {
public:
    Parser(const Grammar& grammar, Cursor cursor, const FilterLimits& limits)
        : grammar_(grammar), cursor_(std::move(cursor)), limits_(limits)
    {
    }

    Result<Filter> filter()
    {
        Filter filter;
        for (;;) {
            // Clients put texts together: an AND too many joins nothing and does no harm.
            bool joined = filter.empty();
            while (cursor_.take_keyword("AND"))
                joined = true;
            if (cursor_.at_end()) return filter;
            if (!joined) return not_joined();
            if (filter.size() == limits_.comparisons)
                return cursor_.wrong(cursor_.peek().at,
                                     fmt::format("more than {} comparisons", limits_.comparisons));
            filter.push_back(TRY(comparison()));
        }
    }

private:
    Result<Comparison> comparison()
    {
        const auto name = TRY(cursor_.name(grammar_, Purpose::filter));
        const auto op_at = cursor_.peek().at;
        const auto op = TRY(operation(name));
        if (!has(name.key->operators, op))
            return cursor_.wrong(
                op_at,
                fmt::format("'{}' cannot be compared with {}", printable(name.text), to_string(op)),
                fmt::format("Allowed here: {}.", names_of(name.key->operators)));
        auto compared = TRY(value(name, op));
        return Comparison{name.family->entity, name.name, op, std::move(compared)};
    }

    Result<Operator> operation(const Resolved& name)
    {
        if (cursor_.take_keyword("LIKE")) return Operator::like;
        if (cursor_.take_keyword("ILIKE")) return Operator::ilike;
        if (cursor_.take_keyword("IN")) return Operator::in;
        if (cursor_.take_keyword("NOT")) {
            if (cursor_.take_keyword("IN")) return Operator::not_in;
            return cursor_.unexpected("IN after NOT");
        }
        if (cursor_.take_keyword("IS")) {
            const bool negated = cursor_.take_keyword("NOT");
            if (cursor_.take_keyword("NULL"))
                return negated ? Operator::is_not_null : Operator::is_null;
            return cursor_.unexpected(negated ? "NULL" : "NULL or NOT NULL");
        }
        const auto& token = cursor_.peek();
        const auto written = cursor_.written(token);
        for (const auto& symbol : symbols) {
            if (token.kind != TokenKind::comparison || symbol.text != written) continue;
            cursor_.take();
            return symbol.op;
        }
        std::string hint;
        if (written == "==") hint = "Equal is '='.";
        if (written == "<>") hint = "Not equal is '!='.";
        if (token.kind == TokenKind::number)
            hint =
                "Put a key with other characters than letters, digits, '_' and '.' in backticks.";
        return cursor_.unexpected(fmt::format("an operator after '{}' ({})",
                                              printable(name.text),
                                              names_of(name.key->operators)),
                                  std::move(hint));
    }

    Result<Value> value(const Resolved& name, Operator op)
    {
        if (op == Operator::is_null || op == Operator::is_not_null) return Value();
        if (op == Operator::in || op == Operator::not_in) return list();
        if (name.key->type == ValueType::number || is_number(name, op)) return number(name);
        if (name.key->type == ValueType::time) return time(name);
        const auto at = cursor_.peek().at;
        auto text = TRY(quoted_text(name));
        if (op == Operator::like || op == Operator::ilike) {
            if (utf8_length(text) > limits_.pattern)
                return cursor_.wrong(
                    at, fmt::format("a pattern has at most {} characters", limits_.pattern));
        } else {
            TRY(check_word(name, at, text));
        }
        return Value(std::move(text));
    }

    [[nodiscard]] bool is_number(const Resolved& name, Operator op) const
    {
        if (name.key->type != ValueType::either) return false;
        const bool ordered = op == Operator::greater || op == Operator::greater_equal ||
                             op == Operator::less || op == Operator::less_equal;
        const bool pattern = op == Operator::like || op == Operator::ilike;
        return ordered || (!pattern && cursor_.peek().kind == TokenKind::number);
    }

    Result<Value> number(const Resolved& name)
    {
        if (cursor_.peek().kind != TokenKind::number)
            return cursor_.unexpected(fmt::format("a number for '{}'", printable(name.text)),
                                      number_hint());
        return Value(cursor_.take().number);
    }

    [[nodiscard]] std::string number_hint() const
    {
        const auto& token = cursor_.peek();
        if (token.kind != TokenKind::text) return {};
        if (const auto time = parse_written_time(token.text))
            return fmt::format("Write it in milliseconds since 1970: {}.", *time);
        return "Write it without quotes.";
    }

    Result<Value> time(const Resolved& name)
    {
        const auto& token = cursor_.peek();
        if (token.kind == TokenKind::number) return Value(cursor_.take().number);
        const auto time =
            token.kind == TokenKind::text ? parse_written_time(token.text) : std::nullopt;
        if (!time)
            return cursor_.unexpected(
                fmt::format("a time for '{}'", printable(name.text)),
                "Write it as '2026-01-31 12:00' in UTC, or in milliseconds since 1970.");
        cursor_.take();
        return Value(static_cast<double>(*time));
    }

    Result<std::string> quoted_text(const Resolved& name)
    {
        const auto& token = cursor_.peek();
        if (token.kind != TokenKind::text) {
            const bool short_enough = token.length < 40 && !cursor_.at_end();
            return cursor_.unexpected(
                fmt::format("a text in quotes for '{}'", printable(name.text)),
                short_enough ? fmt::format("Write '{}'.", printable(cursor_.written(token))) : "");
        }
        return std::string(cursor_.take().text);
    }

    Result<Value> list()
    {
        if (!cursor_.take_if(TokenKind::left_paren)) return cursor_.unexpected("'(' and a list");
        std::vector<std::string> texts;
        do {
            // As Python writes a tuple of one: ('a',)
            if (!texts.empty() && cursor_.peek().kind == TokenKind::right_paren) break;
            if (cursor_.peek().kind != TokenKind::text)
                return cursor_.unexpected("a text in quotes");
            if (++listed_ > limits_.listed)
                return cursor_.wrong(cursor_.peek().at,
                                     fmt::format("more than {} values in lists", limits_.listed));
            texts.emplace_back(cursor_.take().text);
        } while (cursor_.take_if(TokenKind::comma));
        if (!cursor_.take_if(TokenKind::right_paren)) return cursor_.unexpected("',' or ')'");
        return Value(std::move(texts));
    }

    [[nodiscard]] Result<>
    check_word(const Resolved& name, std::size_t at, const std::string& text) const
    {
        const auto& known = name.key->values;
        if (known.empty() || std::find(known.begin(), known.end(), text) != known.end()) return {};
        const std::vector<std::string> words(known.begin(), known.end());
        const auto meant = nearest(text, words);
        return cursor_.wrong(at,
                             fmt::format("'{}' is not a {}", printable(text), name.name),
                             meant ? fmt::format("Did you mean '{}'?", *meant)
                                   : fmt::format("Allowed: {}.", join(words, ", ")));
    }

    [[nodiscard]] tl::unexpected<Error> not_joined() const
    {
        const auto& token = cursor_.peek();
        std::string hint;
        if (cursor_.is_keyword(token, "OR")) hint = "Only AND joins comparisons.";
        return cursor_.unexpected("AND or the end", std::move(hint));
    }

    const Grammar& grammar_;
    Cursor cursor_;
    FilterLimits limits_;
    std::size_t listed_ = 0;
};

// The best number is the least or the greatest: the name of the metric says which.
Result<Entity> resolve_best(const Cursor& cursor, std::size_t at, const std::string& metric)
{
    const auto better = model::better_of(metric);
    if (better == model::Better::unknown)
        return cursor.wrong(at,
                            fmt::format("the name '{}' does not say whether less or more is better",
                                        printable(metric)),
                            "Order by min.NAME or max.NAME.");
    return better == model::Better::lower ? Entity::lowest : Entity::highest;
}

Result<OrderKey> parse_entry(const Grammar& grammar, std::string_view label, std::string_view text)
{
    auto cursor = TRY(Cursor::open(label, text));
    const auto at = cursor.peek().at;
    auto name = TRY(cursor.name(grammar, Purpose::order));
    auto entity = name.family->entity;
    if (entity == Entity::best) entity = TRY(resolve_best(cursor, at, name.name));
    auto direction = Direction::ascending;
    if (cursor.take_keyword("DESC")) {
        direction = Direction::descending;
    } else {
        cursor.take_keyword("ASC");
    }
    if (!cursor.at_end()) {
        const bool next = cursor.peek().kind == TokenKind::comma;
        return cursor.unexpected("ASC, DESC or the end",
                                 next ? "Write each key as a separate entry." : "");
    }
    return OrderKey{entity, std::move(name.name), direction};
}

}  // namespace

Result<Filter>
parse_filter(const Grammar& grammar, std::string_view text, const FilterLimits& limits)
{
    if (text.size() > limits.text)
        return fail(ErrorKind::invalid_argument,
                    "filter: the text has {} bytes, more than {}",
                    text.size(),
                    limits.text);
    return Parser(grammar, TRY(Cursor::open("filter", text)), limits).filter();
}

Result<std::vector<OrderKey>> parse_order_by(const Grammar& grammar,
                                             const std::vector<std::string>& entries,
                                             const FilterLimits& limits)
{
    if (entries.size() > limits.order_keys)
        return fail(ErrorKind::invalid_argument,
                    "order_by: {} entries, more than {}",
                    entries.size(),
                    limits.order_keys);
    std::vector<OrderKey> keys;
    for (const auto& entry : entries) {
        const auto label =
            entries.size() == 1 ? "order_by" : fmt::format("order_by[{}]", keys.size());
        if (entry.size() > limits.text)
            return fail(ErrorKind::invalid_argument,
                        "{}: the text has {} bytes, more than {}",
                        label,
                        entry.size(),
                        limits.text);
        auto key = TRY(parse_entry(grammar, label, entry));
        const auto same = [&key](const OrderKey& other) {
            return other.entity == key.entity && other.key == key.key;
        };
        if (std::any_of(keys.begin(), keys.end(), same))
            return fail(ErrorKind::invalid_argument,
                        "{}: '{}' is given twice",
                        label,
                        printable(trim(entry)));
        keys.push_back(std::move(key));
    }
    return keys;
}

}  // namespace ponk::query::search
