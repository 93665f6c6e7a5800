// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/services.hpp"
#include "base/json.hpp"
#include "model/run.hpp"

#include <string>
#include <vector>

namespace ponk::api {

// A run as docs/design/api.md shows it. Metrics become top-level fields where no own field has
// their name.
Json run_json(const model::Run& run,
              const std::vector<store::LatestMetric>& metrics,
              const std::string& experiment);
// The same, with the metrics and the name of its experiment read from history.
// Of very many metrics some are left out; `metrics_left_out` then counts them. `child_runs` are
// those that its script made.
Result<Json> run_json(const Services& services, const model::Run& run);
// Runs as lists have them, with fewer metrics each; those of `metrics` are among them.
Result<Json> runs_json(const Services& services,
                       const std::vector<model::Run>& runs,
                       const std::vector<std::string>& metrics = {});
Json metric_value(const model::MetricPoint& point);

}  // namespace ponk::api
