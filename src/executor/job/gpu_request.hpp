// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "executor/job/job.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ponk::executor {

// As it is stored with a run, sent to another machine and given to `ponk-gpu-monitor`.
Json to_json(const GpuRequest& request);
GpuRequest gpu_request_from(const Json& json);

// Whether a variable tells frameworks which devices to use.
bool chooses_devices(std::string_view variable);
// Values of all such variables that keep frameworks from every device.
std::vector<std::pair<std::string, std::string>> hiding_variables();

}  // namespace ponk::executor
