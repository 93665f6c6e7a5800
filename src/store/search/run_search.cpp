// SPDX-License-Identifier: Apache-2.0
#include "store/search/run_search.hpp"

#include "model/run_state.hpp"
#include "model/run_words.hpp"
#include "store/search/run_filter.hpp"

#include <fmt/format.h>

namespace ponk::store {

using query::search::Comparison;
using query::search::Entity;
using query::search::Operator;

namespace {

Sql list_of(const std::vector<std::int64_t>& rows)
{
    return Sql("SELECT value AS row FROM json_each(")
        .value(fmt::format("[{}]", fmt::join(rows, ",")))
        .add(")");
}

Term project_term(const std::string& id)
{
    const auto is_it = Sql(" = (SELECT row FROM project WHERE id = ").value(id).add(")");
    Term term;
    term.condition = Sql("run.project").add(is_it);
    term.rows = Sql("SELECT row FROM run WHERE project").add(is_it);
    term.counted = *term.rows;
    return term;
}

Term experiments_term(const std::vector<std::int64_t>& experiments)
{
    const bool one = experiments.size() == 1;
    const auto among = one ? Sql(" = ").value(experiments.front())
                           : Sql(" IN (").add(list_of(experiments)).add(")");
    Term term;
    // The runs of one experiment are in order in its index, those of several are not.
    term.condition = Sql(one ? "run.project" : "+run.project").add(among);
    term.rows = Sql("SELECT row FROM run WHERE project").add(among);
    term.counted = *term.rows;
    return term;
}

Term gpu_term(const std::string& verdict)
{
    Term term;
    term.condition = Sql("+run.gpu_verdict = ").value(verdict);
    // The index has only those.
    if (verdict == model::gpu_not_requested) return term;
    term.rows = Sql("SELECT row FROM run WHERE gpu_verdict <> 'not-requested' AND gpu_verdict = ")
                    .value(verdict);
    term.counted = *term.rows;
    return term;
}

Term parent_term(const std::string& parent)
{
    Term term;
    term.condition = Sql("+run.parent = ").value(parent);
    term.rows = Sql("SELECT row FROM run WHERE parent <> '' AND parent = ").value(parent);
    term.counted = *term.rows;
    return term;
}

std::vector<Comparison> comparisons_of(const RunSearch& search)
{
    auto all = search.filter;
    const auto& scope = search.scope;
    const auto add = [&all](const char* key, const std::string& value) {
        all.push_back({Entity::attribute, key, Operator::equal, value});
    };
    if (scope.state) add("status", model::to_string(*scope.state));
    if (!scope.script.empty()) add("script", scope.script);
    if (!scope.target.empty()) add("target", scope.target);
    if (scope.tag)
        all.push_back({Entity::tag, scope.tag->first, Operator::equal, scope.tag->second});
    return all;
}

// 0 when it is not known.
bool is_time(const OrderColumn& column)
{
    return column.type == OrderColumn::Type::integer;
}

}  // namespace

int longest_walk(std::size_t limit)
{
    constexpr std::size_t to_begin = 30'000;
    constexpr std::size_t to_go_on = 100;
    return static_cast<int>(to_begin + to_go_on * limit);
}

RunSearchPlan::RunSearchPlan(const RunSearch& search,
                             std::vector<OrderColumn> columns,
                             Marks marks,
                             const std::vector<std::int64_t>& except)
    : search_(search), columns_(std::move(columns)), marks_(std::move(marks)),
      comparisons_(comparisons_of(search))
{
    if (!except.empty()) except_ = Sql("run.row NOT IN (").add(list_of(except)).add(")");
    if (!search.scope.project.empty()) terms_.push_back(project_term(search.scope.project));
    if (search.experiments) terms_.push_back(experiments_term(*search.experiments));
    if (!search.scope.parent.empty()) terms_.push_back(parent_term(search.scope.parent));
    if (!search.scope.gpu_verdict.empty()) terms_.push_back(gpu_term(search.scope.gpu_verdict));
    for (const auto& comparison : comparisons_)
        terms_.push_back(make_term(comparison, search));
}

bool RunSearchPlan::can_walk() const
{
    const auto& first = columns_.front();
    return first.place || first.value == "run.row" || first.value == "run.started" ||
           first.value == "run.ended";
}

std::vector<Sql> RunSearchPlan::statements(std::optional<std::size_t> driver,
                                           const std::optional<Tie>& tie) const
{
    if (driver) return {statement(fetch(*terms_[*driver].rows, {.except = driver}))};
    std::vector<Sql> all;
    const auto reached = marks_.empty() ? Rank::value : marks_.front().rank;
    for (const auto rank : {Rank::value, Rank::nan, Rank::missing}) {
        if (rank < reached || !is_possible(rank)) continue;
        if (rank == Rank::value && tie) {
            for (const auto& part : walk_around(*tie))
                all.push_back(statement(part));
            continue;
        }
        if (rank == Rank::value && is_time(columns_.front()) && !columns_.front().rank.empty()) {
            // A time of 0 is not known and comes last: an index has it between these two.
            for (const char* const side : {" < 0", " > 0"}) {
                auto part = walk_values();
                part.where.push_back(Sql(columns_.front().value).add(side));
                all.push_back(statement(part));
            }
            continue;
        }
        all.push_back(statement(rank == Rank::value ? walk_values() : walk_others(rank)));
    }
    return all;
}

Sql RunSearchPlan::statement(const Part& part) const
{
    Sql sql("SELECT run.row");
    for (const auto& column : columns_) {
        const bool first = &column == &columns_.front();
        if (first && part.first_value) {
            sql.add(", 0, ").value(*part.first_value);
            continue;
        }
        const bool empty = first && part.first_rank.value_or(Rank::value) != Rank::value;
        const auto rank = first && part.first_rank
                              ? std::to_string(static_cast<std::int64_t>(*part.first_rank))
                              : column.rank;
        sql.add(fmt::format(
            ", {}, {}", rank.empty() ? "0" : rank, empty ? std::string("NULL") : column.value));
    }
    sql.add(" FROM ").add(part.from).add(" WHERE ").add(all_of(part.where)).add(" ORDER BY ");
    if (part.first_value)
        return sql.add(order_text({columns_.begin() + 1, columns_.end()}, std::nullopt));
    return sql.add(order_text(columns_, part.first_rank));
}

void RunSearchPlan::add_conditions(Part& part, const Checked& checked) const
{
    for (const auto& condition : visibility(search_.scope))
        part.where.emplace_back(condition);
    if (except_) part.where.push_back(*except_);
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        if (checked.except == i) continue;
        if (checked.first_key == Checked::FirstKey::no && concerns_first_key(terms_[i])) continue;
        if (checked.indexed == Checked::Indexed::no && terms_[i].rows) continue;
        part.where.push_back(terms_[i].condition);
    }
}

Sql RunSearchPlan::statement_for(const std::vector<std::int64_t>& rows) const
{
    return statement(fetch(list_of(rows), {.indexed = Checked::Indexed::no}));
}

Sql RunSearchPlan::statement_among(const std::vector<std::int64_t>& rows) const
{
    return statement(fetch(list_of(rows), {}));
}

RunSearchPlan::Part RunSearchPlan::fetch(const Sql& found, const Checked& checked) const
{
    Part part;
    // CROSS JOIN is SQLite's word for "in this order".
    part.from = Sql("(").add(found).add(") AS found CROSS JOIN run ON run.row = found.row");
    for (const auto& column : columns_)
        part.from.add(column.join);
    add_conditions(part, checked);
    if (!marks_.empty()) part.where.push_back(behind(columns_, marks_, 0));
    return part;
}

// What brings the values of the order to each run, but for the one that is walked by.
void RunSearchPlan::add_joins(Part& part) const
{
    for (std::size_t i = columns_.front().place ? 1 : 0; i < columns_.size(); ++i)
        part.from.add(columns_[i].join);
}

// Those that have a value for the first key.
RunSearchPlan::Part RunSearchPlan::walk_values() const
{
    const auto& first = columns_.front();
    Part part;
    part.first_rank = Rank::value;
    part.from = Sql("run");
    if (first.place) {
        part.from = Sql(first.place->table).add(" AS o0 CROSS JOIN run ON run.row = o0.run");
        part.where.push_back(Sql("o0.key = ").value(first.place->key));
        if (first.key.entity == Entity::metric)
            part.where.emplace_back("o0.text IS NULL AND o0.value IS NOT NULL");
        for (const auto& term : terms_) {
            if (concerns_first_key(term) && term.comparison->op != Operator::is_not_null)
                part.where.push_back(compare(Sql("o0.value"), *term.comparison));
        }
    } else if (!first.rank.empty() && !is_time(first)) {
        part.where.push_back(Sql(first.value).add(" IS NOT NULL"));
    }
    // It would rather sort the runs of a project, all of them.
    if (first.value == "run.ended") part.from.add(" INDEXED BY run_by_ended");
    add_joins(part);
    add_conditions(part, {.first_key = Checked::FirstKey::no});
    if (!marks_.empty() && marks_.front().value) {
        // The first of the two says nothing that the other does not; it is what an index can use.
        part.where.push_back(
            Sql(first.value).add(goes_down(first) ? " <= " : " >= ").value(*marks_.front().value));
        part.where.push_back(behind_in_rank(columns_, marks_, 0));
    }
    return part;
}

// Those with NaN, or without a value.
RunSearchPlan::Part RunSearchPlan::walk_others(Rank rank) const
{
    const auto& first = columns_.front();
    Part part;
    part.first_rank = rank;
    part.from = Sql("run");
    if (rank == Rank::nan) {
        part.from = Sql("metric AS o0 CROSS JOIN run ON run.row = o0.run");
        part.where.push_back(
            Sql("o0.text IS NULL AND o0.value IS NULL AND o0.key = ").value(first.place->key));
    } else if (first.place) {
        part.where.push_back(Sql("(SELECT 1 FROM ")
                                 .add(first.place->table)
                                 .add(" WHERE key = ")
                                 .value(first.place->key)
                                 .add(first.place->condition)
                                 .add(" AND ")
                                 .add(first.place->table)
                                 .add(".run = run.row) IS NULL"));
    } else {
        part.where.push_back(Sql(first.value).add(is_time(first) ? " = 0" : " IS NULL"));
    }
    add_joins(part);
    add_conditions(part, {.first_key = Checked::FirstKey::no});
    if (!marks_.empty() && marks_.front().rank == rank)
        part.where.push_back(behind(columns_, marks_, 1));
    return part;
}

bool RunSearchPlan::is_possible(Rank rank) const
{
    const auto& first = columns_.front();
    if (rank == Rank::nan && first.key.entity != Entity::metric) return false;
    if (rank == Rank::missing && first.rank.empty()) return false;
    for (const auto& term : terms_) {
        if (!concerns_first_key(term)) continue;
        const auto op = term.comparison->op;
        if (rank == Rank::value && op == Operator::is_null) return false;
        if (rank == Rank::nan && op != Operator::not_equal) return false;
        if (rank == Rank::missing && op != Operator::is_null) return false;
    }
    return true;
}

bool RunSearchPlan::concerns_first_key(const Term& term) const
{
    const auto& first = columns_.front();
    return first.place && term.comparison && term.comparison->entity == first.key.entity &&
           term.comparison->key == first.key.key;
}

}  // namespace ponk::store
