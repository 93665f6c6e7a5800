// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ponk::store {

// Artifacts of experiments that name no place of their own are below this, by the experiment's id.
inline constexpr std::string_view artifact_root = "mlflow-artifacts:/";
// Where the artifacts of the experiment, or of a run, are.
std::string artifact_location(std::int64_t experiment, const std::string& location);
// `inside` below a location: the query of an address stays at the end ("s3://b/x?region=eu").
std::string below_location(std::string_view location, std::string_view inside);

}  // namespace ponk::store
