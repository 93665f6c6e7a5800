// SPDX-License-Identifier: Apache-2.0
#include "store/tracking/trace_metric_list.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "store/tracking/assessments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ponk::store {

namespace {

using Kind = Aggregation::Kind;
using Names = std::vector<std::string_view>;

constexpr std::string_view began = "span.began / 1000000";

constexpr std::string_view kind_name(Kind kind)
{
    switch (kind) {
    case Kind::count:
        return "COUNT";
    case Kind::sum:
        return "SUM";
    case Kind::average:
        return "AVG";
    case Kind::percentile:
        return "PERCENTILE";
    case Kind::least:
        return "MIN";
    case Kind::greatest:
        return "MAX";
    }
    return "";
}

// ['a', 'b']
template <class Names>
std::string list_of(const Names& names)
{
    std::vector<std::string> quoted;
    for (const auto& name : names)
        quoted.push_back(fmt::format("'{}'", printable(name)));
    return "[" + join(quoted, ", ") + "]";
}

std::string metadata_column(std::string_view key)
{
    return fmt::format("(SELECT value FROM trace_metadata WHERE trace_metadata.trace = trace.row"
                       " AND key = '{}')",
                       key);
}

// What the client counted is a text with an object in it; only whole numbers are tokens.
std::string tokens_column(std::string_view key)
{
    return fmt::format(
        "(SELECT CASE WHEN json_valid(value) AND json_type(value, '$.{0}') IN ('integer', 'real')"
        " AND json_extract(value, '$.{0}') = CAST(json_extract(value, '$.{0}') AS INTEGER)"
        " THEN json_extract(value, '$.{0}') END FROM trace_metadata"
        " WHERE trace_metadata.trace = trace.row AND key = 'mlflow.trace.tokenUsage')",
        key);
}

// Numbers are themselves; yes and no, as judges say them, are 1 and 0. The value of an issue is its
// name.
constexpr std::string_view assessed =
    "CASE json_type(assessment.value) WHEN 'true' THEN 1 WHEN 'false' THEN 0"
    " WHEN 'integer' THEN json_extract(assessment.value, '$')"
    " WHEN 'real' THEN json_extract(assessment.value, '$')"
    " WHEN 'text' THEN CASE WHEN assessment.kind <> 'issue' THEN"
    " CASE lower(trim(json_extract(assessment.value, '$'), char(9, 10, 11, 12, 13, 32)))"
    " WHEN 'yes' THEN 1 WHEN 'no' THEN 0 END END END";

std::vector<TraceMetric> metrics_of_traces()
{
    const std::vector statistics{
        Kind::sum, Kind::average, Kind::least, Kind::greatest, Kind::percentile};
    std::vector<TraceMetric> all{
        {"trace_count", {Kind::count}, {"trace_name", "trace_status"}, "trace.row"},
        {.name = "session_count",
         .aggregations = {Kind::count},
         .value = metadata_column("mlflow.trace.session"),
         .counted = "DISTINCT "},
        {"latency",
         {Kind::average, Kind::least, Kind::greatest, Kind::percentile},
         {"trace_name"},
         "trace.duration"}};
    for (const auto name : {"input_tokens",
                            "output_tokens",
                            "total_tokens",
                            "cache_read_input_tokens",
                            "cache_creation_input_tokens"})
        all.push_back({name, statistics, {"trace_name"}, tokens_column(name)});
    return all;
}

std::vector<TraceMetric> metrics_of_spans()
{
    const std::vector statistics{
        Kind::sum, Kind::average, Kind::least, Kind::greatest, Kind::percentile};
    std::vector<TraceMetric> all{
        {"span_count",
         {Kind::count},
         {"span_name", "span_type", "span_status", "span_model_name", "span_model_provider"},
         "span.row"},
        {"latency",
         {Kind::average, Kind::least, Kind::greatest, Kind::percentile},
         {"span_name", "span_status"},
         "(span.ended - span.began) / 1000000"}};
    for (const auto name : {"input_cost", "output_cost", "total_cost"})
        all.push_back({.name = name,
                       .aggregations = statistics,
                       .dimensions = {"span_model_name", "span_model_provider"},
                       .value = fmt::format("span_model.{}", name),
                       .time = began});
    return all;
}

std::vector<TraceMetric> metrics_of_assessments()
{
    return {{"assessment_count",
             {Kind::count},
             {"assessment_name", "assessment_value"},
             "assessment.row"},
            {"assessment_value",
             {Kind::average, Kind::least, Kind::greatest, Kind::percentile},
             {"assessment_name"},
             std::string(assessed)}};
}

const std::vector<TraceMetric>& metrics_of(TraceView view)
{
    static const std::array all{metrics_of_traces(), metrics_of_spans(), metrics_of_assessments()};
    return all.at(static_cast<std::size_t>(view));
}

template <class All, class One>
bool contains(const All& all, const One& one)
{
    return std::find(all.begin(), all.end(), one) != all.end();
}

Result<> check_aggregations(const TraceMetric& metric, const std::vector<Aggregation>& wanted)
{
    if (wanted.empty()) return fail(ErrorKind::invalid_argument, "aggregations: none is named");
    Names wrong;
    for (const auto& one : wanted) {
        const auto name = kind_name(one.kind);
        if (!contains(metric.aggregations, one.kind) && !contains(wrong, name))
            wrong.push_back(name);
    }
    if (wrong.empty()) return {};
    Names supported;
    for (const auto kind : metric.aggregations)
        supported.push_back(kind_name(kind));
    std::sort(wrong.begin(), wrong.end());
    std::sort(supported.begin(), supported.end());
    return fail(ErrorKind::invalid_argument,
                "Found invalid aggregation_type(s): {}. Supported aggregation types: {}",
                list_of(wrong),
                list_of(supported));
}

Result<> check_dimensions(const TraceMetric& metric, const std::vector<std::string>& wanted)
{
    std::vector<std::string> wrong;
    for (const auto& name : wanted) {
        if (!contains(metric.dimensions, name) && !contains(wrong, name)) wrong.push_back(name);
    }
    if (wrong.empty()) return {};
    auto supported = metric.dimensions;
    std::sort(wrong.begin(), wrong.end());
    std::sort(supported.begin(), supported.end());
    return fail(ErrorKind::invalid_argument,
                "Found invalid dimension(s): {}. Supported dimensions: {}",
                list_of(wrong),
                list_of(supported));
}

}  // namespace

std::string Aggregation::name() const
{
    if (kind == Kind::percentile) return "P" + number_text(percentile);
    return std::string(kind_name(kind));
}

Result<const TraceMetric*> find_trace_metric(const TraceMetricQuery& query)
{
    const auto& all = metrics_of(query.view);
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const auto& metric) { return metric.name == query.metric; });
    if (found == all.end()) {
        Names names;
        for (const auto& metric : all)
            names.push_back(metric.name);
        return fail(ErrorKind::invalid_argument,
                    "metric_name must be one of {}, got '{}'",
                    list_of(names),
                    printable(query.metric));
    }
    TRY(check_aggregations(*found, query.aggregations));
    TRY(check_dimensions(*found, query.dimensions));
    return &*found;
}

std::string_view dimension_column(TraceView view, std::string_view dimension)
{
    if (view == TraceView::traces)
        return dimension == "trace_status"
                   ? "trace.state"
                   : "(SELECT value FROM trace_tag WHERE trace_tag.trace = trace.row"
                     " AND key = 'mlflow.traceName')";
    if (view == TraceView::assessments)
        return dimension == "assessment_name" ? "assessment.name" : "assessment.value";
    if (dimension == "span_name") return "span.name";
    if (dimension == "span_type") return "span.type";
    if (dimension == "span_status") return "span.status";
    return dimension == "span_model_name" ? "span_model.model" : "span_model.provider";
}

}  // namespace ponk::store
