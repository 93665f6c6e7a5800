// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/services.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "store/tracking/traces.hpp"

#include <vector>

namespace ponk::api::mlflow {

// Traces with those spans that are kept here; of others clients fetch a file. Those of which spans
// are still missing are left out.
Result<JsonArray> whole_traces(const Services& services,
                               const std::vector<store::TraceInfo>& traces);

}  // namespace ponk::api::mlflow
