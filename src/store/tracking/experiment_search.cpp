// SPDX-License-Identifier: Apache-2.0
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/search/search_order.hpp"
#include "store/search/search_page.hpp"
#include "store/search/search_term.hpp"
#include "store/tracking/experiment_row.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::store {

using query::search::Comparison;
using query::search::Direction;
using query::search::Entity;
using query::search::Operator;
using query::search::OrderKey;

namespace {

constexpr std::string_view id_key = "experiment_id";

std::string column_of(std::string_view key)
{
    if (key == "name") return "project.experiment";
    if (key == "creation_time") return "project.created";
    if (key == "last_update_time") return "project.updated";
    return "project.row";
}

OrderColumn make_column(const OrderKey& key)
{
    return {.key = key,
            .type = key.key == "name" ? OrderColumn::Type::text : OrderColumn::Type::integer,
            .place = std::nullopt,
            .value = column_of(key.key),
            .rank = ""};
}

std::vector<OrderColumn> columns_of(const std::vector<OrderKey>& order_by)
{
    std::vector<OrderColumn> columns;
    for (const auto& key : order_by)
        columns.push_back(make_column(key));
    if (order_by.empty())
        columns.push_back(make_column({Entity::attribute, "creation_time", Direction::descending}));
    const bool by_id = std::any_of(
        order_by.begin(), order_by.end(), [](const OrderKey& key) { return key.key == id_key; });
    if (!by_id) {
        columns.push_back(
            make_column({Entity::attribute,
                         std::string(id_key),
                         order_by.empty() ? Direction::ascending : Direction::descending}));
    }
    return columns;
}

Sql condition_of(const Comparison& comparison)
{
    if (comparison.entity == Entity::attribute) {
        // Filters have ids as texts.
        return compare(comparison.key == id_key ? Sql("CAST(project.row AS TEXT)")
                                                : Sql(column_of(comparison.key)),
                       comparison);
    }
    const auto of_it = Sql(" FROM experiment_tag AS tag WHERE tag.project = project.row"
                           " AND tag.key = ")
                           .value(comparison.key);
    if (comparison.op == Operator::is_null) return Sql("NOT EXISTS (SELECT 1").add(of_it).add(")");
    if (comparison.op == Operator::is_not_null) return Sql("EXISTS (SELECT 1").add(of_it).add(")");
    return Sql("(SELECT ").add(compare(Sql("tag.value"), comparison)).add(of_it).add(")");
}

Sql statement_of(const ExperimentSearch& search,
                 const std::vector<OrderColumn>& columns,
                 const Marks& marks)
{
    std::vector<Sql> where;
    if (search.lifecycle != Lifecycle::all) {
        where.emplace_back(search.lifecycle == Lifecycle::active ? "project.deleted = 0"
                                                                 : "project.deleted <> 0");
    }
    for (const auto& comparison : search.filter)
        where.push_back(condition_of(comparison));
    if (!marks.empty()) where.push_back(behind(columns, marks, 0));
    return Sql("SELECT ")
        .add(experiment_columns)
        .add(" FROM project WHERE ")
        .add(all_of(where))
        .add(" ORDER BY ")
        .add(order_text(columns, std::nullopt))
        .add(" LIMIT ")
        .value(static_cast<std::int64_t>(search.limit) + 1);
}

Marks marks_of(const std::vector<OrderColumn>& columns, const Experiment& experiment)
{
    Marks marks;
    for (const auto& column : columns) {
        if (column.value == "project.experiment") {
            marks.push_back({Rank::value, experiment.name});
        } else if (column.value == "project.created") {
            marks.push_back({Rank::value, experiment.created});
        } else if (column.value == "project.updated") {
            marks.push_back({Rank::value, experiment.updated});
        } else {
            marks.push_back({Rank::value, experiment.id});
        }
    }
    return marks;
}

}  // namespace

Result<ExperimentPage> Tracking::search_experiments(const ExperimentSearch& search) const
{
    const auto columns = columns_of(search.order_by);
    const auto marks = search.page.empty() ? Marks() : TRY(parse_page_word(columns, search.page));
    return history_.impl_->database->read([&](db::Connection& reader) -> Result<ExperimentPage> {
        ExperimentPage page;
        auto statement = TRY(statement_of(search, columns, marks).prepare(reader));
        while (TRY(statement.step())) {
            if (page.experiments.size() == search.limit) {
                page.next = page_word(columns, marks_of(columns, page.experiments.back()));
                break;
            }
            page.experiments.push_back(read_experiment(statement));
        }
        for (auto& experiment : page.experiments)
            TRY(read_experiment_tags(reader, experiment));
        return page;
    });
}

}  // namespace ponk::store
