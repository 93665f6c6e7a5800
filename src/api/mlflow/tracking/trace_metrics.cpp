// SPDX-License-Identifier: Apache-2.0
#include "store/tracking/trace_metrics.hpp"

#include "api/mlflow/limits.hpp"
#include "api/mlflow/model_json.hpp"
#include "api/mlflow/routes.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "query/search/filter.hpp"

#include <algorithm>

// Numbers about many traces at once: how many there are, how long they took, what they cost.
namespace ponk::api::mlflow {

namespace {

using Kind = store::Aggregation::Kind;

constexpr std::int64_t usual_points = 1000;
constexpr std::size_t most_experiments = 1000;
constexpr std::size_t most_entries = 100;  // of each list besides

Result<store::TraceView> view_of(const Fields& fields)
{
    const auto name = TRY(fields.find_name("view_type", {"TRACES", "SPANS", "ASSESSMENTS"}));
    if (!name) return tl::unexpected(fields.missing("view_type"));
    if (*name == "TRACES") return store::TraceView::traces;
    return *name == "SPANS" ? store::TraceView::spans : store::TraceView::assessments;
}

Kind kind_of(std::string_view name)
{
    if (name == "COUNT") return Kind::count;
    if (name == "SUM") return Kind::sum;
    if (name == "AVG") return Kind::average;
    if (name == "PERCENTILE") return Kind::percentile;
    return name == "MIN" ? Kind::least : Kind::greatest;
}

Result<store::Aggregation> aggregation_of(const Fields& fields)
{
    const auto name = TRY(
        fields.find_name("aggregation_type", {"COUNT", "SUM", "AVG", "PERCENTILE", "MIN", "MAX"}));
    if (!name) return tl::unexpected(fields.missing("aggregation_type"));
    const auto percentile = TRY(fields.find_number("percentile_value"));
    store::Aggregation one{.kind = kind_of(*name)};
    if (one.kind != Kind::percentile) {
        if (!percentile) return one;
        return fail(ErrorKind::invalid_argument,
                    "Percentile value is only allowed for PERCENTILE aggregation type, got {}",
                    *name);
    }
    if (!percentile)
        return fail(ErrorKind::invalid_argument,
                    "Percentile value is required for PERCENTILE aggregation");
    if (!(0 <= *percentile && *percentile <= 100))
        return fail(ErrorKind::invalid_argument,
                    "Percentile value must be between 0 and 100, got {}",
                    number_text(*percentile));
    one.percentile = *percentile;
    return one;
}

Result<> check_count(std::string_view name, std::size_t count, std::size_t most)
{
    if (count <= most) return {};
    return fail(ErrorKind::invalid_argument, "A call can name at most {} {}", most, name);
}

// Each dimension once, so that each is one member of the answer.
Result<std::vector<std::string>> dimensions_of(const Fields& fields)
{
    std::vector<std::string> once;
    for (auto& name : TRY(fields.texts("dimensions"))) {
        if (std::find(once.begin(), once.end(), name) == once.end())
            once.push_back(std::move(name));
    }
    TRY(check_count("dimensions", once.size(), most_entries));
    return once;
}

Result<query::search::Filter> filters_of(const Fields& fields)
{
    const auto texts = TRY(fields.texts("filters"));
    TRY(check_count("filters", texts.size(), most_entries));
    query::search::Filter all;
    for (const auto& text : texts) {
        for (auto& comparison :
             TRY(query::search::parse_filter(query::search::trace_metrics, text)))
            all.push_back(std::move(comparison));
    }
    return all;
}

Result<std::optional<std::int64_t>> bucket_of(const Fields& fields,
                                              const store::TraceMetricQuery& query)
{
    const auto seconds = TRY(fields.find_integer("time_interval_seconds"));
    if (!seconds || *seconds == 0) return std::optional<std::int64_t>();
    if (*seconds < 0 || *seconds > store::longest_trace / 1000)
        return tl::unexpected(fields.invalid("time_interval_seconds"));
    if (!query.from || !query.until)
        return fail(ErrorKind::invalid_argument,
                    "start_time_ms and end_time_ms are required if time_interval_seconds is set");
    return std::optional(*seconds * 1000);
}

Result<store::TraceMetricQuery> query_of(const Fields& fields)
{
    store::TraceMetricQuery query;
    const auto experiments = TRY(fields.texts("experiment_ids"));
    if (experiments.empty()) return tl::unexpected(fields.missing("experiment_ids"));
    TRY(check_count("experiment_ids", experiments.size(), most_experiments));
    for (const auto& id : experiments)
        query.experiments.push_back(TRY(parse_experiment_id(id)));
    query.view = TRY(view_of(fields));
    query.metric = TRY(fields.text("metric_name"));
    const auto aggregations = TRY(fields.objects("aggregations"));
    if (aggregations.empty()) return tl::unexpected(fields.missing("aggregations"));
    TRY(check_count("aggregations", aggregations.size(), most_entries));
    for (const auto& one : aggregations)
        query.aggregations.push_back(TRY(aggregation_of(one)));
    query.dimensions = TRY(dimensions_of(fields));
    query.filter = TRY(filters_of(fields));
    query.from = TRY(fields.find_integer("start_time_ms"));
    query.until = TRY(fields.find_integer("end_time_ms"));
    query.bucket = TRY(bucket_of(fields, query));
    query.limit = static_cast<std::size_t>(TRY(page_size_of(fields, usual_points, largest_page)));
    // All points are on one page.
    if (unless_empty(TRY(fields.find_text("page_token"))))
        return tl::unexpected(fields.invalid("page_token"));
    return query;
}

// "2026-03-01T12:30:00+00:00"
std::string bucket_text(std::int64_t ms)
{
    const auto text = utc_text(ms);
    return text.substr(0, text.find('.')) + "+00:00";
}

Json point_json(const std::string& metric, const store::TraceMetricPoint& point)
{
    JsonObject dimensions;
    if (point.bucket) dimensions.set("time_bucket", bucket_text(*point.bucket));
    for (const auto& [name, value] : point.dimensions)
        dimensions.set(name, value);
    JsonObject values;
    for (const auto& [name, value] : point.values)
        values.set(name, value);
    JsonObject json{{"metric_name", metric}};
    if (!dimensions.empty()) json.set("dimensions", std::move(dimensions));
    json.set("values", std::move(values));
    return json;
}

Result<net::Response> query_metrics(const Services& services, const Call& call)
{
    const auto query = TRY(query_of(call.fields));
    const auto points = TRY(store::TraceMetrics(services.history()).query(query));
    JsonArray list;
    for (const auto& point : points)
        list.push_back(point_json(query.metric, point));
    JsonObject answer;
    set_unless_empty(answer, "data_points", std::move(list));
    return reply(std::move(answer));
}

}  // namespace

std::span<const Route> trace_metric_routes()
{
    using enum Permission;
    static constexpr Route table[] = {
        {.method = "POST",
         .pattern = "/api/3.0/mlflow/traces/metrics",
         .permission = read,
         .action = query_metrics,
         .pace = net::Reception::Pace::compute},
    };
    return table;
}

}  // namespace ponk::api::mlflow
