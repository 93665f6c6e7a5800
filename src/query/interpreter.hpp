// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "query/fault.hpp"
#include "query/jmespath.hpp"
#include "query/syntax_tree.hpp"
#include "query/value.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::query {

// One search: walks the tree and counts the work. Used by one thread, then thrown away. `where`
// is always the node that an error shall point at.
class Interpreter {
public:
    Interpreter(std::string_view expression, const QueryLimits& limits, const Json& document)
        : expression_(expression), limits_(limits),
          work_(limits.work + limits.work_per_value * values_in(document)), work_left_(work_)
    {
    }

    Result<Value> evaluate(const Node& node, const Value& current);
    // A value as a document of its own.
    Result<Json> materialise(const Value& value, const Node& where);
    Result<bool> equal(const Value& left, const Value& right, const Node& where);

    Result<Value> make_list(std::vector<Value> items, const Node& where);
    Result<Value> make_hash(std::vector<Value::Member> members, const Node& where);
    // Counts work about to be done; an error when there is too much of it.
    Result<> charge(std::size_t units, const Node& where);
    // The same for bytes of text, which are cheaper than values.
    Result<> charge_text(std::size_t bytes, const Node& where)
    {
        return charge(bytes / bytes_per_value, where);
    }

    [[nodiscard]] tl::unexpected<Error>
    fault(Fault fault, const Node& where, std::string_view what, std::string hint = {}) const
    {
        return tl::unexpected(make_fault(fault, expression_, where.at, what, std::move(hint)));
    }

private:
    Result<Value> field(const Node& node, const Value& current);
    Result<Value> slice(const Node& node, const Value& current);
    Result<Value> flatten(const Node& node, const Value& current);
    Result<Value> sequence(const Node& node, const Value& current);
    Result<Value> any_or_all_of(const Node& node, const Value& current);
    Result<Value> comparison(const Node& node, const Value& current);
    Result<Value> projection(const Node& node, const Value& current);
    Result<Value> multi_list(const Node& node, const Value& current);
    Result<Value> multi_hash(const Node& node, const Value& current);
    Result<Value> call(const Node& node, const Value& current);
    Result<bool> equal_objects(const Value& left, const Value& right, const Node& where);
    Result<> weigh(const Json& json, const Node& where);
    Result<> check_depth(std::size_t depth, const Node& where) const;

    static constexpr std::size_t bytes_per_value = 32;
    static std::size_t values_in(const Json& json);

    std::string_view expression_;
    const QueryLimits& limits_;
    std::size_t work_;
    std::size_t work_left_;
};

}  // namespace ponk::query
