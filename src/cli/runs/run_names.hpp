// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "query/search/comparison.hpp"

#include <string>
#include <string_view>
#include <vector>

// The names that runs have: of metrics, parameters, tags and of their own fields.
namespace ponk::cli {

using query::search::Entity;

// One value of a run by its name: "metrics.loss", "params.lr", "tags.team", "status", "git.commit".
struct FieldName {
    Entity entity = Entity::attribute;
    std::string key;  // of an attribute: the path in the run's record
};

// The value of a run, null where it has none. Of a list: the last.
Json value_of(const Json& run, const FieldName& name);

// Of a list its last value, of a long one too; anything else as it is.
const Json& last_of(const Json& value);

// The names of one kind, in order of first sight.
std::vector<std::string> names_of(const JsonArray& runs, Entity entity);

// Metrics that a table of these runs shows first: those that most of them have; among these
// those whose name tells what is better (a loss, an accuracy), then those of the newest run.
// Without lists and without what ponk measures itself.
std::vector<std::string> common_metrics(const JsonArray& newest_first, std::size_t most);

}  // namespace ponk::cli
