// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlflow/fields.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// What a call logs, read and checked: the one meaning that the daemon and the relay of a run give
// to the same body.
namespace ponk::mlflow {

struct LoggedMetric {
    std::string key;
    double value = 0;
    std::int64_t time = 0;
    std::int64_t step = 0;
    // What it is about besides the run; often empty.
    std::string model_id;
    std::string dataset_name;
    std::string dataset_digest;
};
using LoggedText = std::pair<std::string, std::string>;
using LoggedTexts = std::vector<LoggedText>;

Result<LoggedMetric> metric_of(const Fields& fields);
// Too long a value is cut, as MLflow's server does it.
Result<LoggedText> param_of(const Fields& fields);
Result<LoggedText> tag_of(const Fields& fields);

// The lists "params" and "tags".
Result<LoggedTexts> params_of(const Fields& fields);
Result<LoggedTexts> tags_of(const Fields& fields);

struct LoggedBatch {
    std::vector<LoggedMetric> metrics;
    LoggedTexts params;
    LoggedTexts tags;
};
Result<LoggedBatch> batch_of(const Fields& fields);

}  // namespace ponk::mlflow
