// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/run_spec.hpp"

// Specifications as the first version stored them: flat, without a version. They are in histories,
// in exports and beside runs.
namespace ponk::model {

Result<RunSpec> parse_run_spec_v1(const Json& json);
GpuRequest gpu_request_v1(const Json& json);

}  // namespace ponk::model
