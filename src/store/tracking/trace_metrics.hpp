// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "query/search/comparison.hpp"
#include "store/rows/tracked_rows.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ponk::store {

class History;

// What is counted or measured.
enum class TraceView { traces, spans, assessments };

// What becomes of the values of a group.
struct Aggregation {
    enum class Kind { count, sum, average, percentile, least, greatest } kind = Kind::count;
    double percentile = 0;  // 0 to 100; between two values as far as it is between their places

    // "AVG", "P99.0": as answers call it.
    [[nodiscard]] std::string name() const;
};

// Names are those of MLflow: docs/design/models.md.
struct TraceMetricQuery {
    TraceView view = TraceView::traces;
    std::vector<std::int64_t> experiments = {};
    std::string metric = {};
    std::vector<Aggregation> aggregations = {};
    std::vector<std::string> dimensions = {};           // groups have the same value in all of them
    query::search::Filter filter = {};                  // of query::search::trace_metrics
    std::optional<std::int64_t> bucket = std::nullopt;  // groups of so many milliseconds, too
    // Wall-clock milliseconds, both included.
    std::optional<std::int64_t> from = std::nullopt;
    std::optional<std::int64_t> until = std::nullopt;
    std::size_t limit = 1000;  // groups
};

// One group.
struct TraceMetricPoint {
    std::optional<std::int64_t> bucket = std::nullopt;  // when it begins
    Pairs dimensions = {};
    std::vector<std::pair<std::string, double>> values = {};
};

// Numbers about many traces at once. Safe to call from any thread.
class TraceMetrics {
public:
    explicit TraceMetrics(const History& history) : history_(history) {}

    // By bucket, then by the dimensions in their order. Without values there is no group, but a
    // count of everything is 0. `invalid_argument` in MLflow's words for what cannot be asked.
    Result<std::vector<TraceMetricPoint>> query(const TraceMetricQuery& query) const;

private:
    const History& history_;
};

}  // namespace ponk::store
