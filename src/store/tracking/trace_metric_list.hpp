// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/tracking/trace_metrics.hpp"

#include <string>
#include <string_view>
#include <vector>

// What can be asked about traces in numbers, and where it is in the tables.
namespace ponk::store {

struct TraceMetric {
    std::string_view name = {};
    std::vector<Aggregation::Kind> aggregations = {};
    std::vector<std::string_view> dimensions = {};
    std::string value = {};  // an expression; NULL: this one has none
    // Of which time `from` and `until` are, in milliseconds.
    std::string_view time = "trace.time";
    // "DISTINCT " where equal values count once.
    std::string_view counted = {};
};

// `invalid_argument` for a metric that the view does not have, and for what cannot be asked of it.
Result<const TraceMetric*> find_trace_metric(const TraceMetricQuery& query);

// An expression; NULL: it is in no group.
std::string_view dimension_column(TraceView view, std::string_view dimension);

}  // namespace ponk::store
