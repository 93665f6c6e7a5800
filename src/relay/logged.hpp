// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlflow/logged.hpp"
#include "relay/tracked_state.hpp"

// What a call logs, as records of the journal.
namespace ponk::relay {

using mlflow::batch_of;
using mlflow::Fields;
using mlflow::LoggedBatch;
using mlflow::metric_of;
using mlflow::param_of;
using mlflow::tag_of;

// The records of what is new in it for `run`; each begins with the members of `about`. A parameter
// that has another value already is refused.
Result<JsonArray> records_of(const LoggedBatch& batch, const TrackedRun& run, JsonObject about);

}  // namespace ponk::relay
