// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/tracking/tracking.hpp"

#include <optional>
#include <string>
#include <string_view>

// Bodies of runs/log-metric and runs/log-batch in the form that clients send all the time, read in
// one pass. What has any other form (escapes, numbers as texts, null, unknown fields, mistakes) is
// not read here: Fields has the patience and the words for it.
namespace ponk::api::mlflow {

struct LogBody {
    std::string run_id;
    store::Logged logged;
};

std::optional<LogBody> scan_metric(std::string_view text);

struct ScannedBatch {
    std::optional<LogBody> body = std::nullopt;
    bool too_many_metrics = false;  // reading ended there
};
ScannedBatch scan_batch(std::string_view text);

}  // namespace ponk::api::mlflow
