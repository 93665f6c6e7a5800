// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/run_spec.hpp"

#include <string_view>

namespace ponk::executor {

// Whether a variable tells frameworks which devices to use.
bool chooses_devices(std::string_view variable);
// Values of all such variables that keep frameworks from every device.
model::Variables hiding_variables();

}  // namespace ponk::executor
