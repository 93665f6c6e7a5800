// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/nvml/cards.hpp"

namespace ponk::nvml {

// All devices of the last `enumerate` (made now when there was none) at this moment.
void write_sample(Machine& machine, Text& out);

}  // namespace ponk::nvml
