// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The language in which MLflow's clients, and `ponk history list`, ask for runs, experiments and
// models: "metrics.accuracy > 0.9 AND params.lr = '0.1'". Pure values and texts: whoever stores
// things evaluates. docs/design/search.md describes the language.
namespace ponk::query::search {

// What a name belongs to.
enum class Entity {
    attribute,
    metric,
    // The least and the greatest number of all points of a metric, to order by.
    lowest,
    highest,
    // One of these two, by the name of the metric: only as it is written.
    best,
    param,
    tag,
    dataset,
    // Of traces.
    span,
    feedback,
    expectation,
    issue,
    assessment
};

// Whether the key is the name of a metric.
[[nodiscard]] constexpr bool is_of_metric(Entity entity)
{
    return entity == Entity::metric || entity == Entity::lowest || entity == Entity::highest;
}

// "metrics", "params"…: as names are written.
std::string_view to_string(Entity entity);

enum class Operator {
    equal,
    not_equal,
    greater,
    greater_equal,
    less,
    less_equal,
    like,
    ilike,
    in,
    not_in,
    is_null,
    is_not_null
};

// "=", "NOT IN"…
std::string_view to_string(Operator op);

// Nothing (IS NULL), a number, which is finite, a text, or a list of at least one text.
using Value = std::variant<std::monostate, double, std::string, std::vector<std::string>>;

// One condition. `key` of an attribute is its first name, whatever other name was written.
struct Comparison {
    Entity entity = Entity::attribute;
    std::string key;
    Operator op = Operator::equal;
    Value value;

    friend bool operator==(const Comparison&, const Comparison&) = default;
};

// All of them hold; none: everything passes.
using Filter = std::vector<Comparison>;

enum class Direction { ascending, descending };

struct OrderKey {
    Entity entity = Entity::attribute;
    std::string key;
    Direction direction = Direction::ascending;

    friend bool operator==(const OrderKey&, const OrderKey&) = default;
};

// The same again as text, which parses to an equal value. A text or key that holds every kind of
// quote cannot be written; no parser makes one.
std::string to_text(const Comparison& comparison);
std::string to_text(const Filter& filter);
std::string to_text(const OrderKey& key);

}  // namespace ponk::query::search
