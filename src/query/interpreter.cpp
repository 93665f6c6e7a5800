// SPDX-License-Identifier: Apache-2.0
#include "query/interpreter.hpp"

#include "base/keyed_hash.hpp"
#include "query/functions.hpp"
#include "query/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace ponk::query {

Result<Value> Interpreter::evaluate(const Node& node, const Value& current)
{
    TRY(charge(1, node));
    switch (node.kind) {
    case NodeKind::current:
        return current;
    case NodeKind::literal:
        return Value::borrow(node.literal);
    case NodeKind::field:
        return field(node, current);
    case NodeKind::index: {
        const auto size = static_cast<std::int64_t>(current.is_array() ? current.size() : 0);
        const auto index = node.literal.as_integer();
        if (index >= size || index < -size) return Value();
        return current.item(static_cast<std::size_t>(index < 0 ? index + size : index));
    }
    case NodeKind::slice:
        return slice(node, current);
    case NodeKind::flatten:
        return flatten(node, current);
    case NodeKind::sequence:
        return sequence(node, current);
    case NodeKind::any_of:
    case NodeKind::all_of:
        return any_or_all_of(node, current);
    case NodeKind::negation:
        return Value::own(!TRY(evaluate(node.children[0], current)).is_true());
    case NodeKind::comparison:
        return comparison(node, current);
    case NodeKind::list_projection:
    case NodeKind::object_projection:
    case NodeKind::filter_projection:
        return projection(node, current);
    case NodeKind::multi_list:
        return multi_list(node, current);
    case NodeKind::multi_hash:
        return multi_hash(node, current);
    case NodeKind::call:
        return call(node, current);
    case NodeKind::reference:
        break;  // call() does not evaluate these
    }
    return fail(ErrorKind::internal, "an expression reference was evaluated");
}

Result<Value> Interpreter::field(const Node& node, const Value& current)
{
    TRY(charge(current.size() / 16, node));  // members are searched one by one
    return current.field(node.literal.as_string());
}

Result<Value> Interpreter::slice(const Node& node, const Value& current)
{
    if (!current.is_array()) return Value();
    const auto size = static_cast<std::int64_t>(current.size());
    const auto step = node.slice[2].value_or(1);
    const auto lowest = step > 0 ? std::int64_t{0} : std::int64_t{-1};
    const auto highest = step > 0 ? size : size - 1;
    const auto bound = [&](std::optional<std::int64_t> given, std::int64_t otherwise) {
        if (!given) return otherwise;
        return std::clamp(*given < 0 ? *given + size : *given, lowest, highest);
    };
    const auto start = bound(node.slice[0], step > 0 ? lowest : highest);
    const auto stop = bound(node.slice[1], step > 0 ? highest : lowest);
    std::vector<Value> items;
    for (auto i = start; step > 0 ? i < stop : i > stop;) {
        items.push_back(current.item(static_cast<std::size_t>(i)));
        // A step past the end must not overflow.
        if (step > 0 ? step >= stop - i : step <= stop - i) break;
        i += step;
    }
    TRY(charge(items.size(), node));
    return make_list(std::move(items), node);
}

Result<Value> Interpreter::flatten(const Node& node, const Value& current)
{
    if (!current.is_array()) return Value();
    std::vector<Value> items;
    for (std::size_t i = 0; i < current.size(); ++i) {
        auto item = current.item(i);
        TRY(charge(1 + item.size(), node));
        if (!item.is_array()) {
            items.push_back(std::move(item));
            continue;
        }
        for (std::size_t j = 0; j < item.size(); ++j)
            items.push_back(item.item(j));
    }
    return make_list(std::move(items), node);
}

Result<Value> Interpreter::sequence(const Node& node, const Value& current)
{
    auto value = current;
    for (const auto& step : node.children)
        value = TRY(evaluate(step, value));
    return value;
}

// The value that decides: the first true one of `||`, the first untrue one of `&&`, or the last.
Result<Value> Interpreter::any_or_all_of(const Node& node, const Value& current)
{
    Value value;
    for (const auto& part : node.children) {
        value = TRY(evaluate(part, current));
        if (value.is_true() == (node.kind == NodeKind::any_of)) break;
    }
    return value;
}

Result<Value> Interpreter::comparison(const Node& node, const Value& current)
{
    const auto left = TRY(evaluate(node.children[0], current));
    const auto right = TRY(evaluate(node.children[1], current));
    const auto wanted = node.comparison;
    if (wanted == Comparison::equal || wanted == Comparison::not_equal)
        return Value::own(TRY(equal(left, right, node)) == (wanted == Comparison::equal));
    const bool comparable =
        (left.is_number() && right.is_number()) || (left.is_string() && right.is_string());
    if (!comparable) return Value();
    const auto order = compare(left.scalar(), right.scalar());
    switch (wanted) {
    case Comparison::less:
        return Value::own(order < 0);
    case Comparison::less_equal:
        return Value::own(order <= 0);
    case Comparison::greater:
        return Value::own(order > 0);
    default:
        return Value::own(order >= 0);
    }
}

Result<Value> Interpreter::projection(const Node& node, const Value& current)
{
    const bool of_object = node.kind == NodeKind::object_projection;
    if (of_object ? !current.is_object() : !current.is_array()) return Value();
    std::vector<Value> results;
    for (std::size_t i = 0; i < current.size(); ++i) {
        const auto item = of_object ? current.member(i).second : current.item(i);
        if (node.kind == NodeKind::filter_projection &&
            !TRY(evaluate(node.children[1], item)).is_true())
            continue;
        auto result = TRY(evaluate(node.children[0], item));
        if (!result.is_null()) results.push_back(std::move(result));
    }
    return make_list(std::move(results), node);
}

Result<Value> Interpreter::multi_list(const Node& node, const Value& current)
{
    if (current.is_null()) return Value();
    std::vector<Value> items;
    items.reserve(node.children.size());
    for (const auto& child : node.children)
        items.push_back(TRY(evaluate(child, current)));
    return make_list(std::move(items), node);
}

Result<Value> Interpreter::multi_hash(const Node& node, const Value& current)
{
    if (current.is_null()) return Value();
    std::vector<Value::Member> members;
    members.reserve(node.children.size());
    for (std::size_t i = 0; i < node.children.size(); ++i)
        members.emplace_back(node.names[i], TRY(evaluate(node.children[i], current)));
    return make_hash(std::move(members), node);
}

Result<Value> Interpreter::call(const Node& node, const Value& current)
{
    Call call{*this, node, {}};
    for (const auto& child : node.children) {
        if (child.kind == NodeKind::reference) {
            call.arguments.push_back({{}, &child.children[0]});
        } else {
            call.arguments.push_back({TRY(evaluate(child, current))});
        }
    }
    return apply_function(call);
}

Result<bool> Interpreter::equal(const Value& left, const Value& right, const Node& where)
{
    TRY(charge(1, where));
    if (left.is_number() && right.is_number()) return compare(left.scalar(), right.scalar()) == 0;
    if (left.type() != right.type()) return false;
    if (left.is_object()) return equal_objects(left, right, where);
    if (!left.is_array()) {
        if (left.is_string()) TRY(charge_text(left.scalar().as_string().size(), where));
        return left.scalar() == right.scalar();
    }
    if (left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (!TRY(equal(left.item(i), right.item(i), where))) return false;
    }
    return true;
}

Result<bool> Interpreter::equal_objects(const Value& left, const Value& right, const Node& where)
{
    if (left.size() != right.size()) return false;
    TRY(charge(left.size(), where));
    KeyedMap<Value, std::string_view> others;
    for (std::size_t i = 0; i < right.size(); ++i)
        others.insert(right.member(i));
    for (std::size_t i = 0; i < left.size(); ++i) {
        const auto [name, value] = left.member(i);
        const auto other = others.find(name);
        if (other == others.end() || !TRY(equal(value, other->second, where))) return false;
    }
    return true;
}

Result<Json> Interpreter::materialise(const Value& value, const Node& where)
{
    if (const auto* json = value.borrowed()) {
        TRY(weigh(*json, where));
        return *json;
    }
    TRY(charge(1 + value.size(), where));
    if (value.is_array()) {
        JsonArray items;
        items.reserve(value.size());
        for (std::size_t i = 0; i < value.size(); ++i)
            items.push_back(TRY(materialise(value.item(i), where)));
        return Json(std::move(items));
    }
    JsonObject members;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const auto [name, member] = value.member(i);
        members.append(std::string(name), TRY(materialise(member, where)));
    }
    return Json(std::move(members));
}

Result<> Interpreter::weigh(const Json& json, const Node& where)
{
    TRY(charge(1, where));
    if (json.is_string()) return charge_text(json.as_string().size(), where);
    if (json.is_array()) {
        for (const auto& item : json.as_array())
            TRY(weigh(item, where));
    } else if (json.is_object()) {
        for (const auto& [name, member] : json.as_object())
            TRY(weigh(member, where));
    }
    return {};
}

// Texts count by their length, as they do when they are charged for.
std::size_t Interpreter::values_in(const Json& json)
{
    std::size_t count = 1;
    if (json.is_string()) count += json.as_string().size() / bytes_per_value;
    if (json.is_array()) {
        for (const auto& item : json.as_array())
            count += values_in(item);
    } else if (json.is_object()) {
        for (const auto& [name, member] : json.as_object())
            count += values_in(member);
    }
    return count;
}

Result<Value> Interpreter::make_list(std::vector<Value> items, const Node& where)
{
    auto value = Value::list(std::move(items));
    TRY(check_depth(value.depth(), where));
    return value;
}

Result<Value> Interpreter::make_hash(std::vector<Value::Member> members, const Node& where)
{
    auto value = Value::hash(std::move(members));
    TRY(check_depth(value.depth(), where));
    return value;
}

// Without this a long pipe of '[@]' would nest values deeper than a stack can unwind.
Result<> Interpreter::check_depth(std::size_t depth, const Node& where) const
{
    if (depth <= limits_.depth) return {};
    return fault(Fault::too_much_work,
                 where,
                 fmt::format("the result is nested deeper than {} levels", limits_.depth));
}

Result<> Interpreter::charge(std::size_t units, const Node& where)
{
    if (units > work_left_) {
        work_left_ = 0;
        return fault(Fault::too_much_work,
                     where,
                     fmt::format("the search takes more than {} steps", work_),
                     "Select less before this part of the expression.");
    }
    work_left_ -= units;
    return {};
}

}  // namespace ponk::query
