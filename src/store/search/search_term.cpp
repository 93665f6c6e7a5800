// SPDX-License-Identifier: Apache-2.0
#include "store/search/search_term.hpp"

#include "base/like.hpp"
#include "model/run_state.hpp"
#include "model/run_words.hpp"
#include "store/rows/artifact_location.hpp"
#include "store/search/own_tags.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::store {

using query::search::Comparison;
using query::search::Entity;
using query::search::Operator;

namespace {

constexpr std::string_view never = "0";
constexpr std::string_view always = "1";
// Ours may have none.
constexpr std::string_view tracked_name =
    "CASE run.name WHEN '' THEN run.script_name || '-' || run.number ELSE run.name END";

Sql list_of(const std::vector<std::string>& texts)
{
    Sql list("(");
    for (std::size_t i = 0; i < texts.size(); ++i)
        list.add(i == 0 ? "" : ", ").value(texts[i]);
    return list.add(")");
}

// Whether what it holds for stands together in an index of values.
bool is_range(const Comparison& comparison)
{
    const auto* text = std::get_if<std::string>(&comparison.value);
    if (comparison.op == Operator::like)
        return !text->empty() && text->front() != '%' && text->front() != '_';
    return comparison.op != Operator::not_equal && comparison.op != Operator::ilike;
}

// The same, and for a pattern that begins with letters the range that an index of the column can
// be asked for.
Sql compare_by_index(std::string_view column, const Comparison& comparison)
{
    const auto holds = compare(Sql(column), comparison);
    if (comparison.op != Operator::like || !is_range(comparison)) return holds;
    const auto& pattern = std::get<std::string>(comparison.value);
    const auto first = pattern.substr(0, pattern.find_first_of("%_"));
    auto range = Sql(column).add(" >= ").value(first);
    // The first text behind all that begin like this; behind the byte 0xff there is none.
    auto behind = first.substr(0, first.find_last_not_of('\xff') + 1);
    if (!behind.empty()) {
        behind.back() = static_cast<char>(static_cast<unsigned char>(behind.back()) + 1U);
        range.add(" AND ").add(column).add(" < ").value(behind);
    }
    return range.add(" AND ").add(holds);
}

// Of metrics, parameters and tags.
Term make_kept_term(const Comparison& comparison, const Place& place)
{
    const auto where_key = Sql(" WHERE key = ").value(place.key).add(place.condition);
    const auto of_run = Sql(" FROM ")
                            .add(place.table)
                            .add(where_key)
                            .add(" AND ")
                            .add(place.table)
                            .add(".run = run.row)");
    const auto rows = Sql("SELECT run AS row FROM ").add(place.table).add(where_key);
    Term term{.comparison = &comparison};
    if (comparison.op == Operator::is_null) {
        term.condition = Sql("(SELECT 1").add(of_run).add(" IS NULL");
        return term;
    }
    term.counted = rows;
    term.rows = rows;
    if (comparison.op == Operator::is_not_null) {
        term.condition = Sql("(SELECT 1").add(of_run);
        return term;
    }
    const auto holds = compare(Sql("value"), comparison);
    term.condition = Sql("(SELECT ").add(holds).add(of_run);
    term.rows->add(" AND ").add(compare_by_index("value", comparison));
    if (is_range(comparison)) term.counted = *term.rows;
    return term;
}

// A state has two words, ours and MLflow's; a comparison that denies must hold for both.
bool holds(const Comparison& comparison, model::RunState state)
{
    using namespace query::search;
    const auto& value = std::get<std::string>(comparison.value);
    const auto of_either = [&](const auto& test) {
        return test(model::to_string(state)) || test(model::mlflow_status(state));
    };
    switch (comparison.op) {
    case Operator::equal:
        return of_either([&](std::string_view word) { return word == value; });
    case Operator::not_equal:
        return !of_either([&](std::string_view word) { return word == value; });
    case Operator::like:
        return of_either(
            [&](std::string_view word) { return matches_like(value, word, Letters::exact); });
    case Operator::ilike:
        return of_either([&](std::string_view word) {
            return matches_like(value, word, Letters::ascii_folded);
        });
    default:
        return false;
    }
}

Term make_status_term(const Comparison& comparison)
{
    std::vector<std::string> states;
    for (int i = 0; i <= static_cast<int>(model::RunState::lost); ++i) {
        const auto state = static_cast<model::RunState>(i);
        if (holds(comparison, state)) states.emplace_back(model::to_string(state));
    }
    Term term{.comparison = &comparison};
    term.condition = Sql("+run.state IN ").add(list_of(states));
    term.rows = Sql("SELECT row FROM run WHERE state IN ").add(list_of(states));
    term.counted = *term.rows;
    return term;
}

// A time of 0 is not known.
Term make_time_term(const Comparison& comparison, const Sql& column)
{
    Term term{.comparison = &comparison};
    term.condition =
        Sql("(").add(column).add(" <> 0 AND ").add(compare(column, comparison)).add(")");
    return term;
}

// Of `run`, with an index; empty for other attributes.
std::string_view indexed_column(std::string_view key)
{
    if (key == "run_id") return "id";
    if (key == "script") return "script_name";
    if (key == "target") return "target";
    return key == "user_id" ? "user" : "";
}

Term make_attribute_term(const Comparison& comparison, const RunSearch& search)
{
    const auto& key = comparison.key;
    if (key == "status") return make_status_term(comparison);
    if (key == "start_time") return make_time_term(comparison, Sql("+run.started"));
    if (key == "end_time") return make_time_term(comparison, Sql("+run.ended"));
    Term term{.comparison = &comparison};
    const auto column = [&](std::string_view name) {
        term.condition = compare(Sql("+run.").add(name), comparison);
        return Sql("run.").add(name);
    };
    if (key == "run_name") {
        term.condition = compare(Sql(name_column(search.words)), comparison);
    } else if (key == "artifact_uri") {
        term.condition = compare(Sql(artifact_column(search.words)), comparison);
    } else if (key == "experiment") {
        const auto among = Sql(" IN (SELECT row FROM project WHERE ")
                               .add(compare(Sql("experiment"), comparison))
                               .add(")");
        // Also what a script called it, where that is not what it is.
        const auto called =
            Sql("SELECT run AS row FROM tag WHERE key = 'ponk.experiment_name' AND ")
                .add(compare(Sql("value"), comparison));
        term.condition = Sql("(+run.project").add(among);
        term.rows = Sql("SELECT row FROM run WHERE project").add(among);
        const bool denies =
            comparison.op == Operator::not_equal || comparison.op == Operator::not_in;
        if (!denies) {
            term.condition.add(" OR run.row IN (").add(called).add(")");
            term.rows->add(" UNION ").add(called);
        }
        term.condition.add(")");
        term.counted = *term.rows;
    } else if (const auto name = indexed_column(key); !name.empty()) {
        const auto indexed = column(name);
        if (comparison.op == Operator::equal || comparison.op == Operator::in) {
            term.rows = Sql("SELECT row FROM run WHERE ").add(compare(indexed, comparison));
            term.counted = *term.rows;
        }
    } else {
        term.condition = Sql(never);
    }
    return term;
}

// Some one of the datasets that a run read fulfils it.
Term make_dataset_term(const Comparison& comparison)
{
    const bool of_input = comparison.key == "context";
    const auto column = (of_input ? "run_dataset." : "dataset.") + comparison.key;
    Term term{.comparison = &comparison};
    term.condition =
        Sql("EXISTS (SELECT 1 FROM run_dataset")
            .add(of_input ? "" : " CROSS JOIN dataset ON dataset.row = run_dataset.dataset")
            .add(" WHERE run_dataset.run = run.row AND ")
            .add(compare(Sql(column), comparison))
            .add(")");
    if (!is_range(comparison)) return term;
    term.rows =
        Sql("SELECT DISTINCT run_dataset.run AS row FROM ")
            .add(of_input ? "run_dataset"
                          : "dataset CROSS JOIN run_dataset ON run_dataset.dataset = dataset.row")
            .add(" WHERE ")
            .add(compare_by_index(column, comparison));
    term.counted = *term.rows;
    return term;
}

}  // namespace

std::string_view name_column(RunSearch::Words words)
{
    return words == RunSearch::Words::mlflow ? tracked_name : "+run.name";
}

std::string artifact_column(RunSearch::Words words)
{
    if (words == RunSearch::Words::history) return "('runs:/' || run.id)";
    // As below_location() has it.
    return fmt::format(
        "(SELECT path || CASE WHEN path GLOB '*/' THEN '' ELSE '/' END || run.id || '/artifacts'"
        " || substr(place, length(path) + 1) FROM (SELECT place, CASE WHEN place GLOB"
        " '[A-Za-z]*[?]*' AND instr(place, ':') BETWEEN 1 AND instr(place, '?') THEN"
        " substr(place, 1, instr(place, '?') - 1) ELSE place END AS path FROM (SELECT CASE"
        " location WHEN '' THEN '{}' || row ELSE location END AS place FROM project WHERE"
        " project.row = run.project)))",
        artifact_root);
}

std::optional<Place> find_place(Entity entity, const std::string& key)
{
    if (entity == Entity::metric) return Place{"metric", " AND text IS NULL", key};
    if (entity == Entity::param)
        return Place{"tag", "", std::string(model::parameter_prefix) + key};
    if (entity == Entity::tag) return Place{"tag", "", model::stored_tag(key)};
    return std::nullopt;
}

Sql compare(const Sql& operand, const Comparison& comparison)
{
    Sql sql = operand;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&comparison.value))
        return sql.add(comparison.op == Operator::in ? " IN " : " NOT IN ").add(list_of(*texts));
    if (const auto* number = std::get_if<double>(&comparison.value)) {
        if (comparison.op == Operator::not_equal) return sql.add(" IS NOT ").value(*number);
        return sql.add(" ").add(to_string(comparison.op)).add(" ").value(*number);
    }
    const auto* text = std::get_if<std::string>(&comparison.value);
    if (!text) return Sql(never);
    if (comparison.op == Operator::like)
        return Sql("like_exact(").value(*text).add(", ").add(operand).add(")");
    if (comparison.op == Operator::ilike)
        return Sql("like_folded(").value(*text).add(", ").add(operand).add(")");
    return sql.add(comparison.op == Operator::equal ? " = " : " <> ").value(*text);
}

namespace {

Term make_own_tag_term(const Comparison& comparison, const std::string& column)
{
    Term term{.comparison = &comparison};
    if (comparison.op == Operator::is_null || comparison.op == Operator::is_not_null) {
        term.condition = Sql("(" + column + ")")
                             .add(comparison.op == Operator::is_null ? " IS NULL" : " IS NOT NULL");
    } else {
        term.condition = compare(Sql(column), comparison);
    }
    return term;
}

}  // namespace

Term make_term(const Comparison& comparison, const RunSearch& search)
{
    if (const auto column = own_tag_column(comparison.entity, comparison.key, search.words))
        return make_own_tag_term(comparison, *column);
    if (comparison.entity == Entity::attribute) return make_attribute_term(comparison, search);
    if (comparison.entity == Entity::dataset) return make_dataset_term(comparison);
    if (const auto place = find_place(comparison.entity, comparison.key))
        return make_kept_term(comparison, *place);
    Term term{.comparison = &comparison};
    term.condition = Sql(comparison.op == Operator::is_null ? always : never);
    return term;
}

}  // namespace ponk::store
