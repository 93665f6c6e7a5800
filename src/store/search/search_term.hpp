// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/search/comparison.hpp"
#include "store/records.hpp"
#include "store/search/search_sql.hpp"

#include <optional>
#include <string>

namespace ponk::store {

// Names of what is asked for in the tables: a parameter is a tag with a prefix.
struct Place {
    std::string_view table;      // "metric" or "tag"
    std::string_view condition;  // " AND text IS NULL": what is logged as text is not a number
    std::string key;
};
// nullopt for attributes and for what no run has.
std::optional<Place> find_place(query::search::Entity entity, const std::string& key);

// Expressions for the name of a run and the place of its artifacts.
std::string_view name_column(RunSearch::Words words);
std::string artifact_column(RunSearch::Words words);
inline constexpr std::string_view experiment_column =
    "(SELECT experiment FROM project WHERE project.row = run.project)";

// `operand` compared as the comparison says; texts by bytes, patterns as SQLite has them. An
// operand that is NULL is NaN: it differs from every number and is nothing else.
Sql compare(const Sql& operand, const query::search::Comparison& comparison);

// A comparison in the ways in which a search can use it.
struct Term {
    const query::search::Comparison* comparison = nullptr;
    // Holds for the row of `run` that is looked at; never by an index of `run`.
    Sql condition;
    // "SELECT … AS row …": the rows of all runs for which it holds, by an index; nullopt: by none.
    std::optional<Sql> rows;
    // The same or more of them, all next to each other in that index: cheap to count.
    Sql counted = {};
};

Term make_term(const query::search::Comparison& comparison, const RunSearch& search);

}  // namespace ponk::store
