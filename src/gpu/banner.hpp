// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/device.hpp"

#include <string>
#include <vector>

namespace ponk::gpu {

// What a run may use, shown before its script begins: a block of lines for each GPU, with its index
// on the machine and a line feed at the end. That a GPU is there does not say that it will be used;
// the verdict says that.
std::vector<std::string> banner(const std::vector<Device>& devices,
                                const std::string& driver_version,
                                const std::string& cuda_version);

}  // namespace ponk::gpu
