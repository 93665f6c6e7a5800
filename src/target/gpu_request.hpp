// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "target/executor.hpp"

namespace ponk::target {

// As it is stored with a run, sent to another machine and told to `ponk-side`.
Json to_json(const GpuRequest& request);
GpuRequest gpu_request_from(const Json& json);

}  // namespace ponk::target
