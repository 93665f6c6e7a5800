// SPDX-License-Identifier: Apache-2.0
#include "store/history/history_access.hpp"
#include "store/rows/run_row.hpp"
#include "store/search/search_term.hpp"
#include "store/tracking/trace_row.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace ponk::store {

using query::search::Comparison;
using query::search::Direction;
using query::search::Entity;
using query::search::Operator;
using query::search::OrderKey;

namespace {

constexpr const char* name_tag = "mlflow.traceName";
constexpr const char* run_metadata = "mlflow.sourceRun";
constexpr const char* duration = "trace.duration";
constexpr const char* end = "(trace.time + trace.duration)";

// Where a key is kept when it is no column: attributes may be tags or metadata too.
struct KeptPair {
    const PairTable* table = nullptr;
    std::string key = {};
};

KeptPair kept(Entity entity, const std::string& key)
{
    if (entity == Entity::tag) return {&trace_tags, key};
    if (entity == Entity::param) return {&trace_metadata, key};
    if (key == "name") return {&trace_tags, name_tag};
    if (key == "run_id") return {&trace_metadata, run_metadata};
    return {};
}

std::string column_of(const std::string& key)
{
    if (key == "timestamp_ms") return "trace.time";
    if (key == "execution_time_ms") return duration;
    if (key == "end_time_ms") return end;
    if (key == "status") return "trace.state";
    if (key == "client_request_id") return "trace.client_id";
    return key == "experiment_id" ? "trace.project" : "trace.id";
}

bool may_lack(const std::string& column)
{
    return column == duration || column == end;
}

Sql condition_of(const Comparison& comparison)
{
    const auto pair = kept(comparison.entity, comparison.key);
    if (pair.table) {
        auto holds = has_pair(*pair.table, "trace.row", pair.key, comparison);
        const bool by_run = comparison.entity == Entity::attribute && comparison.key == "run_id" &&
                            (comparison.op == Operator::equal || comparison.op == Operator::in);
        if (!by_run) return holds;
        return Sql("(")
            .add(holds)
            .add(" OR trace.row IN (SELECT trace FROM trace_link WHERE ")
            .add(compare(Sql("run"), comparison))
            .add("))");
    }
    const auto column = column_of(comparison.key);
    const auto holds = compare(Sql(column), comparison);
    // What has not ended passes no comparison.
    if (!may_lack(column)) return holds;
    return Sql("(trace.duration IS NOT NULL AND ").add(holds).add(")");
}

OrderColumn pair_column(const OrderKey& key, const KeptPair& pair, std::size_t number)
{
    const auto name = fmt::format("o{}", number);
    OrderColumn column{.key = key, .value = name + ".value"};
    column.rank = fmt::format("({}.value IS NULL) * 2", name);
    column.join = Sql(fmt::format(" LEFT JOIN {0} AS {1} ON {1}.{2} = trace.row AND {1}.key = ",
                                  pair.table->name,
                                  name,
                                  pair.table->owner))
                      .value(pair.key);
    return column;
}

OrderColumn make_column(const OrderKey& key, std::size_t number)
{
    const auto pair = kept(key.entity, key.key);
    if (pair.table) return pair_column(key, pair, number);
    OrderColumn column{.key = key, .value = column_of(key.key)};
    if (key.key.ends_with("_ms") || key.key == "experiment_id")
        column.type = OrderColumn::Type::integer;
    if (may_lack(column.value)) column.rank = "(trace.duration IS NULL) * 2";
    return column;
}

std::vector<OrderColumn> columns_of(std::vector<OrderKey> keys)
{
    const auto complete = [&keys](const char* name, Direction direction) {
        const bool has = std::any_of(keys.begin(), keys.end(), [name](const auto& key) {
            return key.entity == Entity::attribute && key.key == name;
        });
        if (!has) keys.push_back({Entity::attribute, name, direction});
    };
    complete("timestamp_ms", Direction::descending);
    complete("request_id", Direction::ascending);
    std::vector<OrderColumn> columns;
    for (const auto& key : keys)
        columns.push_back(make_column(key, columns.size()));
    return columns;
}

Sql experiments_condition(const std::vector<std::int64_t>& experiments)
{
    if (experiments.size() == 1) return Sql("trace.project = ").value(experiments.front());
    return Sql("trace.project IN (SELECT value FROM json_each(")
        .value(fmt::format("[{}]", fmt::join(experiments, ",")))
        .add("))");
}

}  // namespace

RowSearch trace_rows(const TraceSearch& search)
{
    RowSearch rows{.row = "trace.row",
                   .from = "trace",
                   .where = {experiments_condition(search.experiments)},
                   .columns = columns_of(search.order_by),
                   .page = search.page,
                   .limit = search.limit};
    for (const auto& comparison : search.filter)
        rows.where.push_back(condition_of(comparison));
    return rows;
}

Result<TracePage> Traces::search(const TraceSearch& search) const
{
    return HistoryAccess::database(history_).read([&](db::Connection& reader) -> Result<TracePage> {
        auto rows = trace_rows(search);
        const auto found = TRY(find_rows(reader, rows));
        TracePage page{.traces = {}, .next = found.next};
        std::size_t bytes = 0;
        for (const auto row : found.rows) {
            page.traces.push_back(TRY(read_trace(reader, row)));
            bytes += text_size(page.traces.back());
            if (bytes <= enough_text || page.traces.size() == found.rows.size()) continue;
            rows.limit = page.traces.size();
            page.next = TRY(find_rows(reader, rows)).next;
            break;
        }
        return page;
    });
}

}  // namespace ponk::store
