// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/device.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Descriptions of devices that an engine reads by itself (Container Device Interface).
namespace ponk::gpu {

using os::Path;

// Names of the GPUs that one description of kind "nvidia.com/gpu" lists; none for any other text.
// JSON, or the YAML that NVIDIA's toolkit writes.
std::vector<std::string> parse_cdi(std::string_view text);
// What all descriptions in the folders list, which are below `root`.
std::vector<std::string> list_cdi(const Path& root, const std::vector<std::string>& folders);

// "nvidia.com/gpu=GPU-…" per device; nullopt when one of them is not listed.
std::optional<std::vector<std::string>> cdi_names(const std::vector<Device>& devices,
                                                  const std::vector<std::string>& listed);

}  // namespace ponk::gpu
