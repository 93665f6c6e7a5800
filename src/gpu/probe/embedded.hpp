// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <string_view>

// The program that asks NVIDIA's driver, which travels inside ours.
namespace ponk::gpu {

using os::Path;

// ponk-nvml for "x86_64" or "aarch64"; empty when this build has none for it.
std::string_view nvml_program(std::string_view processor);

// Writes the one for this machine below `lib`, once per version, and returns where it is.
// `unavailable` when this build has none.
Result<Path> install_nvml_program(const Path& lib);

}  // namespace ponk::gpu
