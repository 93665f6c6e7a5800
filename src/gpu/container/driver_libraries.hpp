// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/container/driver_files.hpp"

namespace ponk::gpu {

// The libraries of NVIDIA's driver, for processes of this program's processor.
Result<> find_driver_libraries(const DriverSearch& search, DriverFiles& files);

// What "ldconfig -p" prints: names and their files, in its order.
std::vector<DriverFiles::File> parse_ldconfig(std::string_view text);

}  // namespace ponk::gpu
