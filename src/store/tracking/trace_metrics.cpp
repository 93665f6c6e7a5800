// SPDX-License-Identifier: Apache-2.0
#include "store/tracking/trace_metrics.hpp"

#include "base/work_budget.hpp"
#include "store/history/history_access.hpp"
#include "store/search/search_sql.hpp"
#include "store/search/search_term.hpp"
#include "store/tracking/assessments.hpp"
#include "store/tracking/trace_metric_list.hpp"
#include "store/tracking/trace_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ponk::store {

namespace {

using Kind = Aggregation::Kind;
using query::search::Comparison;
using query::search::Entity;

constexpr std::string_view tag_beginning = "tag.";
constexpr std::string_view metadata_beginning = "metadata.";
constexpr std::string_view run_key = "mlflow.sourceRun";

// The tables of a view; in spans and assessments each stands beside its trace.
std::string_view tables_of(TraceView view)
{
    if (view == TraceView::traces) return "trace";
    if (view == TraceView::spans)
        return "trace JOIN span ON span.trace = trace.row"
               " LEFT JOIN span_model ON span_model.span = span.row";
    return "trace JOIN assessment ON assessment.trace = trace.row";
}

// The same as searches of traces say it.
Comparison of_trace(const Comparison& asked)
{
    auto comparison = asked;
    if (asked.key.starts_with(tag_beginning)) {
        comparison.entity = Entity::tag;
        comparison.key = asked.key.substr(tag_beginning.size());
    } else if (asked.key.starts_with(metadata_beginning)) {
        comparison.entity = Entity::param;
        comparison.key = asked.key.substr(metadata_beginning.size());
        // Traces that were linked to the run are its traces, too.
        if (comparison.key == run_key)
            comparison = {Entity::attribute, "run_id", asked.op, asked.value};
    }
    return comparison;
}

Result<std::vector<Sql>> conditions_of(const TraceMetricQuery& query, const TraceMetric& metric)
{
    TraceSearch search{.experiments = query.experiments};
    std::vector<Sql> own;
    for (const auto& comparison : query.filter) {
        if (comparison.entity == Entity::attribute) {
            search.filter.push_back(of_trace(comparison));
            continue;
        }
        const bool of_span = comparison.entity == Entity::span;
        if (query.view != (of_span ? TraceView::spans : TraceView::assessments))
            return fail(ErrorKind::invalid_argument,
                        "Filtering by {0} is only supported for {1} view type",
                        of_span ? "span" : "assessment",
                        of_span ? "SPANS" : "ASSESSMENTS");
        const auto column = of_span                    ? "span." + comparison.key
                            : comparison.key == "type" ? std::string("assessment.kind")
                                                       : std::string("assessment.name");
        own.push_back(compare(Sql(column), comparison));
    }
    auto conditions = trace_rows(search).where;
    conditions.insert(conditions.end(), own.begin(), own.end());
    if (query.from) conditions.push_back(Sql(metric.time).add(" >= ").value(*query.from));
    if (query.until) conditions.push_back(Sql(metric.time).add(" <= ").value(*query.until));
    // One that was replaced does not count beside what replaced it.
    if (query.view == TraceView::assessments)
        conditions.push_back(Sql("assessment.valid = 1 AND ").add(assessment_is_shown));
    return conditions;
}

// Where the bucket begins; also right for times before 1970.
Sql bucket_column(TraceView view, std::int64_t size)
{
    const std::string time = view == TraceView::spans ? "(span.began / 1000000)" : "trace.time";
    return Sql(time)
        .add(" - ((" + time + " % ")
        .value(size)
        .add(") + ")
        .value(size)
        .add(") % ")
        .value(size);
}

// "d0, d1": what makes a group.
std::string group_of(const TraceMetricQuery& query)
{
    std::string group;
    for (std::size_t i = 0; i < query.dimensions.size() + (query.bucket ? 1 : 0); ++i)
        group += fmt::format("{}d{}", i == 0 ? "" : ", ", i);
    return group;
}

// One row for each value, with its group.
Result<Sql> values_sql(const TraceMetricQuery& query, const TraceMetric& metric)
{
    const bool number = query.aggregations.front().kind != Kind::count;
    Sql sql(number ? "SELECT CAST(" : "SELECT (");
    sql.add(metric.value).add(number ? " AS REAL) AS v" : ") AS v");
    std::size_t next = 0;
    if (query.bucket)
        sql.add(", ")
            .add(bucket_column(query.view, *query.bucket))
            .add(fmt::format(" AS d{}", next++));
    for (const auto& dimension : query.dimensions)
        sql.add(", ")
            .add(dimension_column(query.view, dimension))
            .add(fmt::format(" AS d{}", next++));
    sql.add(" FROM ").add(tables_of(query.view)).add(" WHERE ");
    return sql.add(all_of(TRY(conditions_of(query, metric))));
}

bool has_percentile(const TraceMetricQuery& query)
{
    return std::any_of(query.aggregations.begin(), query.aggregations.end(), [](const auto& one) {
        return one.kind == Kind::percentile;
    });
}

// Those with a value that are in a group; for percentiles with their place among the values of the
// group, which are n.
Sql placed_sql(const TraceMetricQuery& query, const Sql& values, const std::string& group)
{
    Sql sql("SELECT *");
    if (has_percentile(query)) {
        const auto by = group.empty() ? "" : "PARTITION BY " + group;
        sql.add(fmt::format(", row_number() OVER ({0} ORDER BY v) - 1 AS place,"
                            " count(*) OVER ({0}) AS n",
                            by));
    }
    sql.add(" FROM (").add(values).add(") WHERE v IS NOT NULL");
    const auto columns = query.dimensions.size() + (query.bucket ? 1 : 0);
    for (std::size_t i = 0; i < columns; ++i)
        sql.add(fmt::format(" AND d{} IS NOT NULL", i));
    return sql;
}

// The value at the place of a percentile or below it, and the next one.
Sql neighbours_of(double percentile)
{
    const auto share = percentile / 100;
    return Sql("max(CASE WHEN place = CAST(")
        .value(share)
        .add(" * (n - 1) AS INTEGER) THEN v END), max(CASE WHEN place = min(CAST(")
        .value(share)
        .add(" * (n - 1) AS INTEGER) + 1, n - 1) THEN v END), max(n)");
}

Sql aggregated(const Aggregation& one, const TraceMetric& metric)
{
    switch (one.kind) {
    case Kind::count:
        return Sql("count(").add(metric.counted).add("v)");
    case Kind::sum:
        return Sql("sum(v)");
    case Kind::average:
        return Sql("avg(v)");
    case Kind::least:
        return Sql("min(v)");
    case Kind::greatest:
        return Sql("max(v)");
    case Kind::percentile:
        break;
    }
    return neighbours_of(one.percentile);
}

Result<Sql> statement_of(const TraceMetricQuery& query, const TraceMetric& metric)
{
    const auto group = group_of(query);
    Sql sql("SELECT ");
    for (std::size_t i = 0; i < query.aggregations.size(); ++i)
        sql.add(i == 0 ? "" : ", ").add(aggregated(query.aggregations[i], metric));
    if (!group.empty()) sql.add(", " + group);
    sql.add(" FROM (").add(placed_sql(query, TRY(values_sql(query, metric)), group)).add(")");
    if (!group.empty()) sql.add(fmt::format(" GROUP BY {0} ORDER BY {0}", group));
    return sql.add(" LIMIT ").value(static_cast<std::int64_t>(query.limit));
}

// Reads columns from `column` on, and leaves it behind the last one.
std::optional<double> read_value(const db::Statement& row, const Aggregation& one, int& column)
{
    const int first = column;
    column += one.kind == Kind::percentile ? 3 : 1;
    if (row.is_null(first)) return std::nullopt;
    if (one.kind != Kind::percentile) return row.real(first);
    const double low = row.real(first);
    const double high = row.real(first + 1);
    const double place = one.percentile / 100 * static_cast<double>(row.integer(first + 2) - 1);
    return low + (place - std::floor(place)) * (high - low);
}

TraceMetricPoint read_point(const db::Statement& row, const TraceMetricQuery& query)
{
    TraceMetricPoint point;
    int column = 0;
    for (const auto& one : query.aggregations) {
        if (const auto value = read_value(row, one, column))
            point.values.emplace_back(one.name(), *value);
    }
    if (query.bucket) point.bucket = row.integer(column++);
    for (const auto& dimension : query.dimensions)
        point.dimensions.emplace_back(dimension, row.text(column++));
    return point;
}

}  // namespace

Result<std::vector<TraceMetricPoint>> TraceMetrics::query(const TraceMetricQuery& query) const
{
    const auto* metric = TRY(find_trace_metric(query));
    const auto sql = TRY(statement_of(query, *metric));
    using Points = std::vector<TraceMetricPoint>;
    return HistoryAccess::database(history_).read([&](db::Connection& reader) -> Result<Points> {
        auto statement = TRY(sql.prepare(reader));
        Points points;
        while (TRY(statement.step())) {
            auto point = read_point(statement, query);
            for (const auto& [name, value] : point.dimensions)
                TRY(charge_answer(name.size() + value.size()));
            if (!point.values.empty()) points.push_back(std::move(point));
        }
        return points;
    });
}

}  // namespace ponk::store
