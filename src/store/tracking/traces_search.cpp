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

// A text in JSON without its quotes; any other value as it is written.
std::string plain_text(const std::string& json)
{
    return fmt::format("CASE WHEN json_valid({0}) AND json_type({0}) = 'text'"
                       " THEN json_extract({0}, '$') ELSE {0} END",
                       json);
}

constexpr std::string_view attribute_prefix = "attributes.";

bool is_about_span(const Comparison& comparison)
{
    return comparison.entity == Entity::span ||
           (comparison.entity == Entity::attribute && comparison.key == "text");
}

Sql span_condition(const Comparison& comparison)
{
    const auto& key = comparison.key;
    if (key.starts_with(attribute_prefix))
        return Sql("EXISTS (SELECT 1 FROM json_each(span.content, '$.attributes') AS said"
                   " WHERE said.key = ")
            .value(key.substr(attribute_prefix.size()))
            .add(" AND ")
            .add(compare(Sql(plain_text("said.value")), comparison))
            .add(")");
    return compare(Sql(key == "text" ? "span.content" : "span." + key), comparison);
}

// All that is asked of spans holds for one of them.
Sql spans_condition(const query::search::Filter& filter)
{
    Sql sql("EXISTS (SELECT 1 FROM span WHERE span.trace = trace.row");
    for (const auto& comparison : filter) {
        if (is_about_span(comparison)) sql.add(" AND ").add(span_condition(comparison));
    }
    return sql.add(")");
}

Sql assessment_condition(const Comparison& comparison)
{
    const bool absent = comparison.op == Operator::is_null;
    Sql sql(absent ? "NOT EXISTS (" : "EXISTS (");
    sql.add("SELECT 1 FROM assessment WHERE assessment.trace = trace.row AND ")
        .add(assessment_is_shown)
        .add(" AND kind = ")
        .value(std::string(to_string(comparison.entity)))
        .add(" AND name = ");
    if (comparison.entity == Entity::issue)
        return sql.value(std::get<std::string>(comparison.value)).add(")");
    sql.value(comparison.key);
    if (absent || comparison.op == Operator::is_not_null) return sql.add(")");
    if (std::holds_alternative<double>(comparison.value))
        return sql.add(" AND json_type(assessment.value) IN ('integer', 'real') AND ")
            .add(compare(Sql("CAST(assessment.value AS REAL)"), comparison))
            .add(")");
    return sql.add(" AND ").add(compare(Sql(plain_text("assessment.value")), comparison)).add(")");
}

Sql condition_of(const Comparison& comparison)
{
    if (comparison.entity == Entity::feedback || comparison.entity == Entity::expectation ||
        comparison.entity == Entity::issue)
        return assessment_condition(comparison);
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
    if (comparison.entity == Entity::attribute && comparison.key == "prompt")
        return Sql("trace.row IN (SELECT trace FROM trace_prompt WHERE ")
            .add(compare(Sql("prompt"), comparison))
            .add(")");
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

std::vector<Sql> conditions_of(const query::search::Filter& filter)
{
    std::vector<Sql> conditions;
    bool asks_spans = false;
    for (const auto& comparison : filter) {
        if (is_about_span(comparison))
            asks_spans = true;
        else
            conditions.push_back(condition_of(comparison));
    }
    if (asks_spans) conditions.push_back(spans_condition(filter));
    return conditions;
}

// 1 or 0.
Sql whether(const query::search::Filter& filter)
{
    const auto conditions = conditions_of(filter);
    if (conditions.empty()) return Sql("1");
    return Sql("coalesce((").add(all_of(conditions)).add("), 0)");
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
    for (const auto& condition : conditions_of(search.filter))
        rows.where.push_back(condition);
    return rows;
}

Result<TraceCounts> Traces::count_both(const TraceSearch& among,
                                       const query::search::Filter& first,
                                       const query::search::Filter& second) const
{
    return HistoryAccess::database(history_).read(
        [&](db::Connection& reader) -> Result<TraceCounts> {
            auto statement = TRY(Sql("SELECT count(*), coalesce(sum(a), 0), coalesce(sum(b), 0),"
                                     " coalesce(sum(a AND b), 0) FROM (SELECT ")
                                     .add(whether(first))
                                     .add(" AS a, ")
                                     .add(whether(second))
                                     .add(" AS b FROM trace WHERE ")
                                     .add(all_of(trace_rows(among).where))
                                     .add(")")
                                     .prepare(reader));
            TRY(statement.step());
            return TraceCounts{statement.integer(0),
                               statement.integer(1),
                               statement.integer(2),
                               statement.integer(3)};
        });
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
