// SPDX-License-Identifier: Apache-2.0
#include "store/search/search_order.hpp"

#include "base/text.hpp"
#include "model/run_state.hpp"
#include "store/search/own_tags.hpp"

#include <algorithm>

namespace ponk::store {

using query::search::Direction;
using query::search::Entity;
using query::search::OrderKey;

namespace {

// By MLflow's words, which its clients see.
std::string status_value()
{
    std::string text = "CASE run.state";
    for (int i = 0; i <= static_cast<int>(model::RunState::lost); ++i) {
        const auto state = static_cast<model::RunState>(i);
        text += fmt::format(
            " WHEN '{}' THEN '{}'", model::to_string(state), model::mlflow_status(state));
    }
    return text + " END";
}

void set_time(OrderColumn& column, const std::string& name)
{
    column.type = OrderColumn::Type::integer;
    column.value = name;
    // A time of 0 is not known; going down it is the last by itself.
    if (column.key.direction == Direction::ascending)
        column.rank = fmt::format("({} = 0) * 2", name);
}

void set_attribute(OrderColumn& column, RunSearch::Words words)
{
    const auto& key = column.key.key;
    if (key == "start_time") return set_time(column, "run.started");
    if (key == "end_time") return set_time(column, "run.ended");
    if (key == "status") {
        column.value = status_value();
    } else if (key == "run_name") {
        column.value = name_column(words);
    } else if (key == "user_id") {
        column.value = "run.user";
    } else if (key == "script") {
        column.value = "run.script_name";
    } else if (key == "target") {
        column.value = "run.target";
    } else if (key == "experiment") {
        column.value = experiment_column;
    } else if (key == "artifact_uri") {
        column.value = artifact_column(words);
    } else {
        column.value = "run.id";
    }
}

// Of all points of a metric; no index has them, so runs are sorted by it.
OrderColumn make_range_column(const OrderKey& key, std::size_t number)
{
    const auto name = fmt::format("o{}", number);
    OrderColumn column{.key = key, .type = OrderColumn::Type::real};
    // What has no finite number has these.
    column.value = key.entity == Entity::lowest ? fmt::format("nullif({}.low, 9e999)", name)
                                                : fmt::format("nullif({}.high, -9e999)", name);
    column.rank = fmt::format("({} IS NULL) * 2", column.value);
    column.join =
        Sql(fmt::format(" LEFT JOIN metric AS {0} ON {0}.run = run.row AND {0}.key = ", name))
            .value(key.key);
    return column;
}

OrderColumn make_column(const OrderKey& key, std::size_t number, RunSearch::Words words)
{
    OrderColumn column{.key = key};
    if (key.entity == Entity::attribute) {
        set_attribute(column, words);
        return column;
    }
    if (key.entity == Entity::lowest || key.entity == Entity::highest)
        return make_range_column(key, number);
    if (auto own = own_tag_column(key.entity, key.key, words)) {
        column.rank = fmt::format("(({}) IS NULL) * 2", *own);
        column.value = *std::move(own);
        return column;
    }
    column.place = find_place(key.entity, key.key);
    if (!column.place) {
        column.value = "''";
        return column;
    }
    const auto name = fmt::format("o{}", number);
    column.value = name + ".value";
    column.rank = fmt::format("({}.run IS NULL) * 2", name);
    column.join = Sql(fmt::format(" LEFT JOIN {0} AS {1} ON {1}.run = run.row AND {1}.key = ",
                                  column.place->table,
                                  name))
                      .value(column.place->key);
    if (key.entity == Entity::metric) {
        column.type = OrderColumn::Type::real;
        column.rank = fmt::format("({0}.run IS NULL) + ({0}.value IS NULL)", name);
        column.join.add(fmt::format(" AND {}.text IS NULL", name));
    }
    return column;
}

bool has_key(const std::vector<OrderKey>& keys, std::string_view name)
{
    return std::any_of(keys.begin(), keys.end(), [name](const OrderKey& key) {
        return key.entity == Entity::attribute && key.key == name;
    });
}

}  // namespace

std::vector<OrderColumn> order_columns(const std::vector<OrderKey>& order_by,
                                       RunSearch::Words words)
{
    if (order_by.empty())
        return {{.key = {Entity::attribute, "row", Direction::descending},
                 .type = OrderColumn::Type::integer,
                 .value = "run.row"}};
    auto keys = order_by;
    if (!has_key(keys, "start_time"))
        keys.push_back({Entity::attribute, "start_time", Direction::descending});
    if (!has_key(keys, "run_id"))
        keys.push_back({Entity::attribute, "run_id", Direction::ascending});
    std::vector<OrderColumn> columns;
    for (const auto& key : keys)
        columns.push_back(make_column(key, columns.size(), words));
    return columns;
}

bool comes_before(const std::vector<OrderColumn>& columns, const Marks& a, const Marks& b)
{
    for (std::size_t at = 0; at < columns.size(); ++at) {
        if (a[at].rank != b[at].rank) return a[at].rank < b[at].rank;
        if (a[at].value == b[at].value) continue;
        return goes_down(columns[at]) ? b[at].value < a[at].value : a[at].value < b[at].value;
    }
    return false;
}

SqlValue value_at(const db::Statement& row, const OrderColumn& column, int at)
{
    if (column.type == OrderColumn::Type::integer) return row.integer(at);
    if (column.type == OrderColumn::Type::real) return row.real(at);
    return row.text(at);
}

Marks marks_at(const db::Statement& row, const std::vector<OrderColumn>& columns)
{
    Marks marks;
    int at = 1;
    for (const auto& column : columns) {
        Mark mark{static_cast<Rank>(row.integer(at))};
        if (mark.rank == Rank::value) mark.value = value_at(row, column, at + 1);
        marks.push_back(std::move(mark));
        at += 2;
    }
    return marks;
}

std::string order_text(const std::vector<OrderColumn>& columns, std::optional<Rank> first_rank)
{
    std::vector<std::string> parts;
    for (const auto& column : columns) {
        const auto known = &column == &columns.front() ? first_rank : std::nullopt;
        if (!column.rank.empty() && !known) parts.push_back(column.rank);
        if (known.value_or(Rank::value) != Rank::value) continue;
        parts.push_back(column.value + (goes_down(column) ? " DESC" : ""));
    }
    return join(parts, ", ");
}

Sql behind_in_rank(const std::vector<OrderColumn>& columns, const Marks& marks, std::size_t first)
{
    const auto& column = columns[first];
    const auto& mark = marks[first];
    if (!mark.value) return behind(columns, marks, first + 1);
    const auto beyond = goes_down(column) ? " < " : " > ";
    return Sql("(")
        .add(column.value)
        .add(beyond)
        .value(*mark.value)
        .add(" OR (")
        .add(column.value)
        .add(" = ")
        .value(*mark.value)
        .add(" AND ")
        .add(behind(columns, marks, first + 1))
        .add("))");
}

Sql behind(const std::vector<OrderColumn>& columns, const Marks& marks, std::size_t first)
{
    if (first == columns.size()) return Sql("0");
    const auto& rank = columns[first].rank;
    if (rank.empty()) return behind_in_rank(columns, marks, first);
    const auto known = static_cast<std::int64_t>(marks[first].rank);
    return Sql("(")
        .add(rank)
        .add(" > ")
        .value(known)
        .add(" OR (")
        .add(rank)
        .add(" = ")
        .value(known)
        .add(" AND ")
        .add(behind_in_rank(columns, marks, first))
        .add("))");
}

}  // namespace ponk::store
