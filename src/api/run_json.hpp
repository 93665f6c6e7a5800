// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/services.hpp"
#include "base/json.hpp"
#include "model/run.hpp"

#include <string>
#include <vector>

namespace ponk::api {

// A run as docs/design/api.md shows it. Metrics become top-level fields where no own field has
// their name.
Json run_json(const model::Run& run, const std::vector<store::LatestMetric>& metrics);
// The same, with the metrics read from history.
// With at most `most_metrics` of its metrics; `metrics_left_out` then counts the others.
constexpr std::size_t most_metrics_shown = 10'000;
Result<Json> run_json(const Services& services,
                      const model::Run& run,
                      std::size_t most_metrics = most_metrics_shown);
// Runs as lists have them, with fewer metrics each.
Result<Json> runs_json(const Services& services, const std::vector<model::Run>& runs);
Json metric_value(const model::MetricPoint& point);

}  // namespace ponk::api
