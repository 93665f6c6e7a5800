// SPDX-License-Identifier: Apache-2.0
#include "store/history/history_access.hpp"
#include "store/models/model_row.hpp"
#include "store/search/row_search.hpp"
#include "store/search/search_term.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace ponk::store {

using query::search::Comparison;
using query::search::Direction;
using query::search::Entity;
using query::search::OrderKey;

namespace {

// Names of attributes as columns of the table.
std::string column_of(const std::string& key)
{
    if (key == "model_id") return "logged_model.id";
    if (key == "model_type") return "logged_model.type";
    if (key == "source_run_id") return "logged_model.source_run";
    if (key == "experiment_id") return "CAST(logged_model.project AS TEXT)";
    if (key == "artifact_location") return "logged_model.location";
    if (key == "creation_timestamp_ms") return "logged_model.created";
    if (key == "last_updated_timestamp_ms") return "logged_model.updated";
    return key == "status" ? "logged_model.status" : "logged_model.name";
}

Sql on_one_of(const std::vector<DatasetName>& datasets)
{
    Sql sql("(0");
    for (const auto& dataset : datasets) {
        sql.add(" OR (dataset_name = ").value(dataset.name);
        if (dataset.digest) sql.add(" AND dataset_digest = ").value(*dataset.digest);
        sql.add(")");
    }
    return sql.add(")");
}

Sql metric_condition(const Comparison& comparison, const std::vector<DatasetName>& datasets)
{
    auto sql = Sql("EXISTS (SELECT 1 FROM logged_model_metric AS m WHERE m.model = logged_model.row"
                   " AND m.key = ")
                   .value(comparison.key)
                   .add(" AND ")
                   .add(compare(Sql("m.value"), comparison));
    if (!datasets.empty()) sql.add(" AND ").add(on_one_of(datasets));
    return sql.add(")");
}

Sql condition_of(const Comparison& comparison, const ModelSearch& search)
{
    switch (comparison.entity) {
    case Entity::metric:
        return metric_condition(comparison, search.datasets);
    case Entity::param:
        return has_pair(model_params, "logged_model.row", comparison.key, comparison);
    case Entity::tag:
        return has_pair(model_tags, "logged_model.row", comparison.key, comparison);
    case Entity::attribute:
    case Entity::lowest:
    case Entity::highest:
    case Entity::best:
    case Entity::dataset:
    case Entity::span:
    case Entity::feedback:
    case Entity::expectation:
    case Entity::issue:
    case Entity::assessment:
        break;
    }
    return compare(Sql(column_of(comparison.key)), comparison);
}

// One experiment by its index, which is in the order of the answer.
Sql experiments_condition(const std::vector<std::int64_t>& experiments)
{
    if (experiments.size() == 1) return Sql("logged_model.project = ").value(experiments.front());
    return Sql("logged_model.project IN (SELECT value FROM json_each(")
        .value(fmt::format("[{}]", fmt::join(experiments, ",")))
        .add("))");
}

// The latest value of the metric, on the dataset when one is named.
OrderColumn metric_column(const ModelOrder& order, std::size_t number)
{
    OrderColumn column{.key = order.key, .type = OrderColumn::Type::real};
    const auto name = fmt::format("o{}", number);
    column.value = name + ".value";
    column.rank = fmt::format("({0}.row IS NULL) + ({0}.value IS NULL)", name);
    column.join = Sql(fmt::format(" LEFT JOIN logged_model_metric AS {0} ON {0}.row ="
                                  " (SELECT m.row FROM logged_model_metric AS m"
                                  " WHERE m.model = logged_model.row AND m.key = ",
                                  name))
                      .value(order.key.key);
    if (order.dataset_name) column.join.add(" AND m.dataset_name = ").value(*order.dataset_name);
    if (order.dataset_digest)
        column.join.add(" AND m.dataset_digest = ").value(*order.dataset_digest);
    column.join.add(" ORDER BY m.time DESC, m.step DESC, m.run DESC LIMIT 1)");
    // A page of another dataset's order is none of this one.
    column.key.key += fmt::format("\n{}\n{}",
                                  order.dataset_name.value_or(std::string()),
                                  order.dataset_digest.value_or(std::string()));
    return column;
}

OrderColumn attribute_column(const OrderKey& key)
{
    OrderColumn column{.key = key, .value = column_of(key.key)};
    if (key.key.ends_with("_timestamp_ms")) column.type = OrderColumn::Type::integer;
    return column;
}

std::vector<OrderColumn> columns_of(const std::vector<ModelOrder>& order_by)
{
    std::vector<OrderColumn> columns;
    for (const auto& order : order_by)
        columns.push_back(order.key.entity == Entity::metric ? metric_column(order, columns.size())
                                                             : attribute_column(order.key));
    const auto complete = [&columns](const char* name, Direction direction) {
        const bool has = std::any_of(columns.begin(), columns.end(), [name](const auto& column) {
            return column.key.entity == Entity::attribute && column.key.key == name;
        });
        if (!has) columns.push_back(attribute_column({Entity::attribute, name, direction}));
    };
    complete("creation_timestamp_ms", Direction::descending);
    complete("model_id", Direction::ascending);
    return columns;
}

bool asks_for_metrics(const query::search::Filter& filter)
{
    return std::any_of(filter.begin(), filter.end(), [](const Comparison& comparison) {
        return comparison.entity == Entity::metric;
    });
}

}  // namespace

RowSearch model_rows(const ModelSearch& search)
{
    RowSearch rows{
        .row = "logged_model.row",
        .from = "logged_model",
        .where = {Sql("logged_model.deleted = 0"), experiments_condition(search.experiments)},
        .columns = columns_of(search.order_by),
        .page = search.page,
        .limit = search.limit};
    for (const auto& comparison : search.filter)
        rows.where.push_back(condition_of(comparison, search));
    if (!search.datasets.empty() && !asks_for_metrics(search.filter)) {
        rows.where.push_back(Sql("EXISTS (SELECT 1 FROM logged_model_metric AS m"
                                 " WHERE m.model = logged_model.row AND ")
                                 .add(on_one_of(search.datasets))
                                 .add(")"));
    }
    return rows;
}

Result<ModelPage> Models::search(const ModelSearch& search) const
{
    auto& database = HistoryAccess::database(history_);
    return database.read([&](db::Connection& reader) -> Result<ModelPage> {
        const auto found = TRY(find_rows(reader, model_rows(search)));
        ModelPage page{.models = {}, .next = found.next};
        for (const auto row : found.rows)
            page.models.push_back(TRY(read_model(reader, row)));
        return page;
    });
}

}  // namespace ponk::store
