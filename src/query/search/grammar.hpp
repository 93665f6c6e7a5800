// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/search/comparison.hpp"

#include <span>
#include <string_view>

namespace ponk::query::search {

// A set of operators.
using Operators = unsigned;

constexpr Operators just(Operator op)
{
    return 1U << static_cast<unsigned>(op);
}

constexpr bool has(Operators operators, Operator op)
{
    return (operators & just(op)) != 0;
}

// time: a number of milliseconds, or a text such as "2026-01-31 12:00".
// either: a text, or a number, which alone is greater or less than another.
enum class ValueType { number, text, time, either };
using Words = std::span<const std::string_view>;

// A name that is known beforehand.
struct Key {
    std::string_view name;
    ValueType type = ValueType::text;
    Operators operators = 0;  // none: only to order by
    enum class Order { yes, no } order = Order::yes;
    Words aliases = {};         // in filters and orders
    Words filter_aliases = {};  // in filters only
    // What it can be compared with by = and !=; empty: anything.
    Words values = {};
};

// The names of one entity: the known ones and those that begin in a known way, or any.
struct Family {
    Entity entity = Entity::attribute;
    Words words = {};  // before the dot; the first is the usual one
    std::span<const Key> keys = {};
    std::span<const Key> beginnings = {};  // "attributes.": what follows is any name
    Key any = {};                          // where there are no keys
};

// What can be said about one kind of thing. All differences between the kinds are in these tables.
struct Grammar {
    std::string_view things;  // "runs"
    std::span<const Family> families;
};

extern const Grammar runs;          // MLflow's
extern const Grammar history_runs;  // the same with what ponk knows of a run besides
extern const Grammar experiments;
extern const Grammar logged_models;
extern const Grammar registered_models;
extern const Grammar model_versions;
extern const Grammar traces;
extern const Grammar trace_metrics;  // filters of numbers about traces

enum class Purpose { filter, order };

const Family* find_family(const Grammar& grammar, std::string_view word);
const Family* find_family(const Grammar& grammar, Entity entity);
// Null when there is no such name, or none for the purpose.
const Key* find_key(const Family& family, std::string_view name, Purpose purpose);
// Whether names of such a key are more than the key's own name.
bool is_open(const Family& family, const Key& key);

}  // namespace ponk::query::search
