// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "mlflow/fields.hpp"
#include "mlflow/logged.hpp"
#include "mlflow/names.hpp"
#include "store/tracking/tracking.hpp"

#include <cstddef>
#include <string>
#include <string_view>

// What names, values and numbers of the tracking API may be. Lengths are in characters.
namespace ponk::api::mlflow {

namespace limits = ponk::mlflow::limits;
inline constexpr std::size_t longest_location = 2048;
inline constexpr std::int64_t largest_page = 50'000;

using ponk::mlflow::check_length;
using ponk::mlflow::Fields;
using ponk::mlflow::is_key;
using ponk::mlflow::key_of;
using ponk::mlflow::params_of;
using ponk::mlflow::tag_of;
using ponk::mlflow::tags_of;
using ponk::mlflow::too_many;

Result<std::string> experiment_tag_value_of(const Fields& fields);

// An id in decimal digits; `not_found` for one that no experiment can have.
Result<std::int64_t> experiment_id(const Fields& fields, std::string_view name);
Result<std::int64_t> parse_experiment_id(std::string_view text);

// What clients send as an empty text is not there.
std::optional<std::string> unless_empty(std::optional<std::string> text);

// ACTIVE_ONLY when absent.
Result<store::Lifecycle> lifecycle_of(const Fields& fields, std::string_view name);
// `otherwise` when absent; 1 to `most`.
Result<std::int64_t> page_size_of(const Fields& fields, std::int64_t otherwise, std::int64_t most);

}  // namespace ponk::api::mlflow
