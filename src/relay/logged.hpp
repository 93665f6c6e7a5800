// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlflow/fields.hpp"
#include "relay/tracked_state.hpp"

#include <string>
#include <utility>
#include <vector>

// What a call logs, checked.
namespace ponk::relay {

using mlflow::Fields;

struct LoggedMetric {
    std::string key;
    Point point;
    Subject subject;
};
using Logged = std::pair<std::string, std::string>;

Result<LoggedMetric> metric_of(const Fields& fields);
// Too long a value is cut, as MLflow's server does it.
Result<Logged> param_of(const Fields& fields);
Result<Logged> tag_of(const Fields& fields);

struct LoggedBatch {
    std::vector<LoggedMetric> metrics;
    std::vector<Logged> params;
    std::vector<Logged> tags;
};
Result<LoggedBatch> batch_of(const Fields& fields);

// The records of what is new in it for `run`; each begins with the members of `about`. A parameter
// that has another value already is refused.
Result<JsonArray> records_of(const LoggedBatch& batch, const TrackedRun& run, JsonObject about);

}  // namespace ponk::relay
