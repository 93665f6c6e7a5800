// SPDX-License-Identifier: Apache-2.0
#include "query/function_bodies.hpp"

#include "base/text.hpp"
#include "query/interpreter.hpp"
#include "query/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ponk::query::body {

namespace {

const std::string& text_of(const Value& value)
{
    return value.scalar().as_string();
}

// A whole number as an integer where 64 bits hold it.
Value whole(double value)
{
    constexpr double two_to_63 = 9223372036854775808.0;
    if (value >= -two_to_63 && value < two_to_63)
        return Value::own(static_cast<std::int64_t>(value));
    return Value::own(value);
}

bool is_nan(const Json& value)
{
    return value.type() == Json::Type::real && std::isnan(value.as_double());
}

// Ascending; NaN, which compares with nothing, comes last.
bool before(const Json& left, const Json& right)
{
    const auto order = compare(left, right);
    if (order == std::partial_ordering::unordered) return !is_nan(left) && is_nan(right);
    return order < 0;
}

enum class Extreme { lowest, highest };

// The place of the first lowest or highest of `keys`; a NaN only when there is nothing else.
std::size_t extreme_of(const std::vector<Value>& keys, Extreme extreme)
{
    std::size_t best = 0;
    for (std::size_t i = 1; i < keys.size(); ++i) {
        const auto& candidate = keys[i].scalar();
        const auto& champion = keys[best].scalar();
        const auto order = compare(candidate, champion);
        const bool wins = extreme == Extreme::lowest ? order < 0 : order > 0;
        if (wins || (is_nan(champion) && !is_nan(candidate))) best = i;
    }
    return best;
}

std::vector<Value> items_of(const Value& array)
{
    std::vector<Value> items;
    items.reserve(array.size());
    for (std::size_t i = 0; i < array.size(); ++i)
        items.push_back(array.item(i));
    return items;
}

// What the expression argument gives for each element: all numbers or all strings.
Result<std::vector<Value>> keys_by(Call& call)
{
    const auto& array = call.value(0);
    const auto& reference = *call.arguments[1].reference;
    std::vector<Value> keys;
    keys.reserve(array.size());
    for (std::size_t i = 0; i < array.size(); ++i) {
        auto key = TRY(call.interpreter.evaluate(reference, array.item(i)));
        const bool sortable = key.is_number() || key.is_string();
        if (sortable && (i == 0 || key.is_string() == keys[0].is_string())) {
            keys.push_back(std::move(key));
            continue;
        }
        constexpr std::array names{
            "null", "a boolean", "a number", "a number", "a string", "an array", "an object"};
        const auto name =
            reference.kind == NodeKind::field ? reference.literal.as_string() : std::string("KEY");
        return call.interpreter.fault(
            Fault::invalid_type,
            call.node.children[1],
            fmt::format("'{}' needs all numbers or all strings from its expression, but element "
                        "{} gives {}",
                        call.node.function->name,
                        i,
                        names.at(static_cast<std::size_t>(key.type()))),
            key.is_null()
                ? fmt::format("Leave such elements out first: [?{} != `null`].", name)
                : fmt::format("Keep those of one type first: [?type({}) == 'number'].", name));
    }
    return keys;
}

Result<std::vector<std::size_t>> sorted_places(Call& call, const std::vector<Value>& keys)
{
    std::size_t bytes = 0;
    for (const auto& key : keys)
        bytes += key.is_string() ? text_of(key).size() : 0;
    const auto rounds = static_cast<std::size_t>(std::bit_width(keys.size()));
    TRY(call.interpreter.charge((keys.size() / 8 + bytes / 64) * rounds, call.node));
    std::vector<std::size_t> places(keys.size());
    for (std::size_t i = 0; i < places.size(); ++i)
        places[i] = i;
    std::stable_sort(places.begin(), places.end(), [&keys](std::size_t left, std::size_t right) {
        return before(keys[left].scalar(), keys[right].scalar());
    });
    return places;
}

Result<Value> in_order(Call& call, const std::vector<Value>& keys)
{
    const auto places = TRY(sorted_places(call, keys));
    std::vector<Value> items;
    items.reserve(places.size());
    for (const auto place : places)
        items.push_back(call.value(0).item(place));
    return call.interpreter.make_list(std::move(items), call.node);
}

Value extreme_item(const Value& array, const std::vector<Value>& keys, Extreme extreme)
{
    return keys.empty() ? Value() : array.item(extreme_of(keys, extreme));
}

// Exact as long as all are integers and 64 bits hold the sum.
Json total(const Value& numbers)
{
    std::int64_t exact = 0;
    double real = 0;
    bool whole = true;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto item = numbers.item(i);
        const auto& number = item.scalar();
        real += number.as_double();
        whole = whole && number.is_integer() &&
                !__builtin_add_overflow(exact, number.as_integer(), &exact);
    }
    return whole ? Json(exact) : Json(real);
}

std::string reversed(std::string_view text)
{
    std::string out(text.size(), '\0');
    auto end = out.size();
    while (!text.empty()) {
        const auto length = std::max<std::size_t>(utf8_sequence(text), 1);
        end -= length;
        out.replace(end, length, text.substr(0, length));
        text.remove_prefix(length);
    }
    return out;
}

}  // namespace

Result<Value> abs(Call& call)
{
    const auto& number = call.value(0).scalar();
    if (!number.is_integer()) return Value::own(std::fabs(number.as_double()));
    const auto integer = number.as_integer();
    if (integer == std::numeric_limits<std::int64_t>::min()) return Value::own(-number.as_double());
    return Value::own(integer < 0 ? -integer : integer);
}

Result<Value> avg(Call& call)
{
    const auto& numbers = call.value(0);
    if (numbers.size() == 0) return Value();
    return Value::own(total(numbers).as_double() / static_cast<double>(numbers.size()));
}

Result<Value> ceil(Call& call)
{
    const auto& number = call.value(0).scalar();
    return number.is_integer() ? call.value(0) : whole(std::ceil(number.as_double()));
}

Result<Value> floor(Call& call)
{
    const auto& number = call.value(0).scalar();
    return number.is_integer() ? call.value(0) : whole(std::floor(number.as_double()));
}

Result<Value> contains(Call& call)
{
    const auto& subject = call.value(0);
    const auto& wanted = call.value(1);
    if (subject.is_string()) {
        TRY(call.interpreter.charge_text(text_of(subject).size(), call.node));
        return Value::own(wanted.is_string() &&
                          text_of(subject).find(text_of(wanted)) != std::string::npos);
    }
    for (std::size_t i = 0; i < subject.size(); ++i) {
        if (TRY(call.interpreter.equal(subject.item(i), wanted, call.node)))
            return Value::own(true);
    }
    return Value::own(false);
}

Result<Value> starts_with(Call& call)
{
    return Value::own(text_of(call.value(0)).starts_with(text_of(call.value(1))));
}

Result<Value> ends_with(Call& call)
{
    return Value::own(text_of(call.value(0)).ends_with(text_of(call.value(1))));
}

Result<Value> join(Call& call)
{
    const auto& glue = text_of(call.value(0));
    const auto& parts = call.value(1);
    std::string out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto part = parts.item(i);
        TRY(call.interpreter.charge_text(glue.size() + text_of(part).size(), call.node));
        if (i > 0) out += glue;
        out += text_of(part);
    }
    return Value::own(std::move(out));
}

Result<Value> keys(Call& call)
{
    const auto& object = call.value(0);
    TRY(call.interpreter.charge(object.size(), call.node));
    std::vector<Value> names;
    for (std::size_t i = 0; i < object.size(); ++i)
        names.push_back(Value::own(object.member(i).first));
    return call.interpreter.make_list(std::move(names), call.node);
}

Result<Value> values(Call& call)
{
    const auto& object = call.value(0);
    TRY(call.interpreter.charge(object.size(), call.node));
    std::vector<Value> items;
    for (std::size_t i = 0; i < object.size(); ++i)
        items.push_back(object.member(i).second);
    return call.interpreter.make_list(std::move(items), call.node);
}

Result<Value> length(Call& call)
{
    const auto& subject = call.value(0);
    if (!subject.is_string()) return Value::own(std::uint64_t{subject.size()});
    TRY(call.interpreter.charge_text(text_of(subject).size(), call.node));
    return Value::own(std::uint64_t{utf8_length(text_of(subject))});
}

Result<Value> map(Call& call)
{
    const auto& array = call.value(1);
    std::vector<Value> results;
    results.reserve(array.size());
    for (std::size_t i = 0; i < array.size(); ++i)
        results.push_back(
            TRY(call.interpreter.evaluate(*call.arguments[0].reference, array.item(i))));
    return call.interpreter.make_list(std::move(results), call.node);
}

Result<Value> max(Call& call)
{
    return extreme_item(call.value(0), items_of(call.value(0)), Extreme::highest);
}

Result<Value> min(Call& call)
{
    return extreme_item(call.value(0), items_of(call.value(0)), Extreme::lowest);
}

Result<Value> max_by(Call& call)
{
    return extreme_item(call.value(0), TRY(keys_by(call)), Extreme::highest);
}

Result<Value> min_by(Call& call)
{
    return extreme_item(call.value(0), TRY(keys_by(call)), Extreme::lowest);
}

Result<Value> sort(Call& call)
{
    return in_order(call, items_of(call.value(0)));
}

Result<Value> sort_by(Call& call)
{
    return in_order(call, TRY(keys_by(call)));
}

Result<Value> merge(Call& call)
{
    std::vector<Value::Member> members;
    for (const auto& argument : call.arguments) {
        TRY(call.interpreter.charge(argument.value.size(), call.node));
        for (std::size_t i = 0; i < argument.value.size(); ++i)
            members.push_back(argument.value.member(i));
    }
    return call.interpreter.make_hash(std::move(members), call.node);
}

Result<Value> not_null(Call& call)
{
    for (const auto& argument : call.arguments) {
        if (!argument.value.is_null()) return argument.value;
    }
    return Value();
}

Result<Value> reverse(Call& call)
{
    const auto& subject = call.value(0);
    if (subject.is_string()) {
        TRY(call.interpreter.charge_text(text_of(subject).size(), call.node));
        return Value::own(reversed(text_of(subject)));
    }
    TRY(call.interpreter.charge(subject.size(), call.node));
    auto items = items_of(subject);
    std::reverse(items.begin(), items.end());
    return call.interpreter.make_list(std::move(items), call.node);
}

Result<Value> sum(Call& call)
{
    return Value::own(total(call.value(0)));
}

Result<Value> to_array(Call& call)
{
    if (call.value(0).is_array()) return call.value(0);
    return call.interpreter.make_list({call.value(0)}, call.node);
}

Result<Value> to_number(Call& call)
{
    const auto& value = call.value(0);
    if (value.is_number()) return value;
    if (!value.is_string()) return Value();
    const auto& text = text_of(value);
    // JSON's grammar of numbers, without the blanks that a document may have around one.
    const bool plain = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
    auto number = plain ? parse_json(text) : Result<Json>(Json());
    return number && number->is_number() ? Value::own(std::move(*number)) : Value();
}

Result<Value> to_string(Call& call)
{
    const auto& value = call.value(0);
    if (value.is_string()) return value;
    auto text = to_json(TRY(call.interpreter.materialise(value, call.node)));
    return Value::own(std::move(text));
}

Result<Value> type(Call& call)
{
    constexpr std::array names{"null", "boolean", "number", "number", "string", "array", "object"};
    return Value::own(names.at(static_cast<std::size_t>(call.value(0).type())));
}

}  // namespace ponk::query::body
