// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ponk::query {

// A value while an expression is evaluated. It points into the document or the expression where it
// can, and what was put together holds other values: no step copies a part of the document, and
// the same value in two places costs nothing. Documents and expressions outlive it.
class Value {
public:
    using Member = std::pair<std::string_view, Value>;  // names live as long as documents do

    Value() = default;
    static Value borrow(const Json& json);
    // `json` is neither an array nor an object.
    static Value own(Json json);
    static Value list(std::vector<Value> items);
    // The last one of equal names wins, in the place of the first.
    static Value hash(std::vector<Member> members);

    [[nodiscard]] Json::Type type() const;
    [[nodiscard]] bool is_null() const { return type() == Json::Type::null; }
    [[nodiscard]] bool is_number() const;
    [[nodiscard]] bool is_string() const { return type() == Json::Type::string; }
    [[nodiscard]] bool is_array() const { return type() == Json::Type::array; }
    [[nodiscard]] bool is_object() const { return type() == Json::Type::object; }
    // JMESPath's truth: not null, false, "", [] or {}.
    [[nodiscard]] bool is_true() const;

    // For anything but arrays and objects; lives as long as this value.
    [[nodiscard]] const Json& scalar() const;
    // Elements or members; 0 for anything else.
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] Value item(std::size_t i) const;
    [[nodiscard]] Member member(std::size_t i) const;
    // Null when this is not an object or has no such member.
    [[nodiscard]] Value field(std::string_view name) const;
    // The document's own part when nothing was put together here, else null.
    [[nodiscard]] const Json* borrowed() const;
    // Levels that were put together here; the document's own do not count.
    [[nodiscard]] std::size_t depth() const;

private:
    struct List {
        std::vector<Value> items;
        std::size_t depth;
    };
    struct Hash {
        std::vector<Member> members;
        std::size_t depth;
    };
    // Shared because a value may be part of several results; never changed once made.
    std::variant<std::monostate,
                 const Json*,
                 std::shared_ptr<const Json>,
                 std::shared_ptr<const List>,
                 std::shared_ptr<const Hash>>
        held_;
};

}  // namespace ponk::query
