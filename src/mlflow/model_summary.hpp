// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <string>

namespace ponk::mlflow {

// The tag of a run in which older clients list its models: a JSON array of summaries.
inline constexpr const char* model_history_tag = "mlflow.log-model.history";

// What of a model's description (`model_json` of runs/log-model) is kept there.
Result<Json> model_summary(const std::string& text);

}  // namespace ponk::mlflow
