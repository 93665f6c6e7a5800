// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "model/run.hpp"

#include <string_view>

namespace ponk::model {

// Parameters of a run are stored as tags whose key starts with this; whoever shows a run parts
// them again.
inline constexpr std::string_view parameter_prefix = "param.";

// What the script said it was started with: {"lr": "0.1"}.
Json params_json(const Run& run);
// All other tags.
Json tags_json(const Run& run);

}  // namespace ponk::model
