// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "mlflow/fields.hpp"
#include "model/logged_limits.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What MLflow's clients may call things, and how long their texts may be.
namespace ponk::mlflow {

namespace limits {
using namespace model::limits;
// Characters, not bytes.
constexpr std::size_t run_id = 256;
constexpr std::size_t trace_preview = 10'000;
// Of one log-batch.
constexpr std::size_t batch_metrics = 1000;
constexpr std::size_t batch_params = 100;
constexpr std::size_t batch_tags = 100;
constexpr std::size_t batch_all = 1000;
}  // namespace limits

// A number as MLflow's server stores it: infinities are the largest there are.
double clamped(double value);

// Letters, numbers, `/ . - : _` and spaces, and as a path it means nothing but itself.
bool is_key(std::string_view key);
// The field `name`, which must be a key; `what` is how an error calls its length.
Result<std::string> key_of(const Fields& fields, std::string_view name, std::string_view what);

// The field `run_id`, which must begin with a letter or digit and go on with those, "_" and "-".
Result<std::string> run_id_of(const Fields& fields);

// "'Param value' exceeds the maximum length of 6000 characters".
Result<> check_length(std::string_view what, std::string_view text, std::size_t most);

// The field `name` of a logged model; empty when it is not said.
Result<std::string> logged_model_name_of(const Fields& fields);

// Of parameters that come together each key may appear once.
Result<> check_twins(const std::vector<std::pair<std::string, std::string>>& params);

// Of a metric: a dataset is named by both or not at all.
Result<> check_dataset(std::string_view name, std::string_view digest);

// "A batch logging request can contain at most 1000 metrics. …"
Error too_many(std::string_view things, std::size_t most, std::size_t found);
// The limits of log-batch.
Result<> check_batch(std::size_t metrics, std::size_t params, std::size_t tags);

}  // namespace ponk::mlflow
