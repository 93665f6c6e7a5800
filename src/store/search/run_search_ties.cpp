// SPDX-License-Identifier: Apache-2.0
// Runs that share the value of the first key of an order.
#include "store/search/run_search.hpp"

namespace ponk::store {

using query::search::Comparison;
using query::search::Operator;

namespace {

Comparison is_equal(const OrderColumn& column, const SqlValue& value)
{
    Comparison comparison{column.key.entity, column.key.key, Operator::equal, {}};
    if (const auto* number = std::get_if<double>(&value)) comparison.value = *number;
    if (const auto* text = std::get_if<std::string>(&value)) comparison.value = *text;
    return comparison;
}

}  // namespace

std::optional<Sql> RunSearchPlan::first_values() const
{
    const auto& first = columns_.front();
    // Only the newest first is an order that an index has.
    const bool then_newest =
        columns_.size() > 1 && columns_[1].value == "run.started" && goes_down(columns_[1]);
    if (!first.place || !then_newest || !is_possible(Rank::value)) return std::nullopt;
    Sql sql("SELECT value FROM ");
    sql.add(first.place->table).add(" WHERE key = ").value(first.place->key);
    sql.add(first.place->condition).add(" AND value IS NOT NULL");
    for (const auto& term : terms_) {
        if (concerns_first_key(term) && term.comparison->op != Operator::is_not_null)
            sql.add(" AND ").add(compare(Sql("value"), *term.comparison));
    }
    if (!marks_.empty()) {
        if (!marks_.front().value) return std::nullopt;
        sql.add(goes_down(first) ? " AND value <= " : " AND value >= ")
            .value(*marks_.front().value);
    }
    return sql.add(goes_down(first) ? " ORDER BY value DESC" : " ORDER BY value");
}

std::vector<RunSearchPlan::Part> RunSearchPlan::walk_around(const Tie& tie) const
{
    const bool down = goes_down(columns_.front());
    std::vector<Part> parts;
    if (tie.before == Tie::Before::some) {
        parts.push_back(walk_values());
        parts.back().where.push_back(Sql(down ? "o0.value > " : "o0.value < ").value(tie.value));
    }
    parts.push_back(walk_tie(tie.value));
    parts.push_back(walk_values());
    parts.back().where.push_back(Sql(down ? "o0.value < " : "o0.value > ").value(tie.value));
    return parts;
}

RunSearchPlan::Part RunSearchPlan::walk_tie(const SqlValue& value) const
{
    const auto& first = columns_.front();
    Part part;
    part.first_value = value;
    part.from = Sql("run");
    for (std::size_t i = 1; i < columns_.size(); ++i)
        part.from.add(columns_[i].join);
    const auto equal = is_equal(first, value);
    part.where.push_back(make_term(equal, search_).condition);
    add_conditions(part, {.first_key = Checked::FirstKey::no});
    if (!marks_.empty() && marks_.front().value == value) {
        // The first of the two is what an index can use. A page that nobody gave may lack it.
        if (marks_[1].value) part.where.push_back(Sql("run.started <= ").value(*marks_[1].value));
        part.where.push_back(behind(columns_, marks_, 1));
    }
    return part;
}

}  // namespace ponk::store
