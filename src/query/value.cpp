// SPDX-License-Identifier: Apache-2.0
#include "query/value.hpp"

#include "base/keyed_hash.hpp"

#include <algorithm>

namespace ponk::query {

namespace {

const Json null_json;

}  // namespace

Value Value::borrow(const Json& json)
{
    Value value;
    value.held_ = &json;
    return value;
}

Value Value::own(Json json)
{
    Value value;
    value.held_ = std::make_shared<const Json>(std::move(json));
    return value;
}

Value Value::list(std::vector<Value> items)
{
    std::size_t depth = 0;
    for (const auto& item : items)
        depth = std::max(depth, item.depth());
    Value value;
    value.held_ = std::make_shared<const List>(List{std::move(items), depth + 1});
    return value;
}

Value Value::hash(std::vector<Member> members)
{
    KeyedMap<std::size_t, std::string_view> places;
    std::vector<Member> unique;
    std::size_t depth = 0;
    for (auto& [name, value] : members) {
        depth = std::max(depth, value.depth());
        const auto [place, added] = places.try_emplace(name, unique.size());
        if (added) {
            unique.emplace_back(name, std::move(value));
        } else {
            unique[place->second].second = std::move(value);
        }
    }
    Value value;
    value.held_ = std::make_shared<const Hash>(Hash{std::move(unique), depth + 1});
    return value;
}

const Json* Value::borrowed() const
{
    if (const auto* json = std::get_if<const Json*>(&held_)) return *json;
    if (const auto* json = std::get_if<std::shared_ptr<const Json>>(&held_)) return json->get();
    if (std::holds_alternative<std::monostate>(held_)) return &null_json;
    return nullptr;
}

const Json& Value::scalar() const
{
    return *borrowed();
}

Json::Type Value::type() const
{
    if (const auto* json = borrowed()) return json->type();
    return std::holds_alternative<std::shared_ptr<const List>>(held_) ? Json::Type::array
                                                                      : Json::Type::object;
}

bool Value::is_number() const
{
    return type() == Json::Type::integer || type() == Json::Type::real;
}

bool Value::is_true() const
{
    switch (type()) {
    case Json::Type::null:
        return false;
    case Json::Type::boolean:
        return scalar().as_bool();
    case Json::Type::string:
        return !scalar().as_string().empty();
    case Json::Type::array:
    case Json::Type::object:
        return size() > 0;
    default:
        return true;
    }
}

std::size_t Value::size() const
{
    if (const auto* list = std::get_if<std::shared_ptr<const List>>(&held_))
        return (*list)->items.size();
    if (const auto* hash = std::get_if<std::shared_ptr<const Hash>>(&held_))
        return (*hash)->members.size();
    const auto& json = scalar();
    if (json.is_array()) return json.as_array().size();
    if (json.is_object()) return json.as_object().size();
    return 0;
}

Value Value::item(std::size_t i) const
{
    if (const auto* list = std::get_if<std::shared_ptr<const List>>(&held_))
        return (*list)->items[i];
    return borrow(scalar().as_array()[i]);
}

Value::Member Value::member(std::size_t i) const
{
    if (const auto* hash = std::get_if<std::shared_ptr<const Hash>>(&held_))
        return (*hash)->members[i];
    const auto& [name, value] = *(scalar().as_object().begin() + static_cast<std::ptrdiff_t>(i));
    return {name, borrow(value)};
}

Value Value::field(std::string_view name) const
{
    if (const auto* hash = std::get_if<std::shared_ptr<const Hash>>(&held_)) {
        const auto& members = (*hash)->members;
        const auto found = std::find_if(members.begin(), members.end(), [name](const auto& member) {
            return member.first == name;
        });
        return found == members.end() ? Value() : found->second;
    }
    if (!is_object()) return {};
    const auto* found = scalar().as_object().find(name);
    return found ? borrow(*found) : Value();
}

std::size_t Value::depth() const
{
    if (const auto* list = std::get_if<std::shared_ptr<const List>>(&held_)) return (*list)->depth;
    if (const auto* hash = std::get_if<std::shared_ptr<const Hash>>(&held_)) return (*hash)->depth;
    return 0;
}

}  // namespace ponk::query
