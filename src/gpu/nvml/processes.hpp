// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/nvml/cards.hpp"

namespace ponk::nvml {

// The list of processes on one device, as a JSON array. Answers the worst status that was met.
int write_processes(Machine& machine, const Device& device, Text& out);

}  // namespace ponk::nvml
