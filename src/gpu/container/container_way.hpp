// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/container.hpp"
#include "gpu/container/driver_files.hpp"

#include <string>
#include <utility>
#include <vector>

// How GPUs come into a container. docs/design/gpu.md, "Containers".
namespace ponk::gpu {

struct ContainerQuestion {
    std::vector<Device> devices;  // those leased
    dockerapi::Version engine;
    dockerapi::Info info;
    DriverSearch search;
};

// What was chosen, and all that the container gets for it.
struct ContainerGpus {
    std::string way;     // "nvidia-runtime", "device-request", "cdi" or "direct"
    std::string reason;  // a sentence
    std::vector<std::string> warnings;
    std::vector<dockerapi::Mount> mounts;
    std::vector<std::string> environment;                    // "K=V"
    std::vector<std::pair<std::string, std::string>> front;  // variable, what comes first in it
    std::string runtime;                                     // empty: the engine's default
    JsonObject host_settings;
};

// Order: the NVIDIA runtime, a device request, CDI, the driver's files mounted directly. A toolkit
// that images can break out of is not used. Fails when no way is left, with what to install.
Result<ContainerGpus> choose_container_way(const ContainerQuestion& question);

// Puts it into `spec`; `image_environment` is what the image sets by itself.
void add_gpus(const ContainerGpus& gpus,
              const std::vector<std::string>& image_environment,
              dockerapi::ContainerSpec& spec);

// The value of CUDA_VISIBLE_DEVICES: UUIDs, which mean the same in and out of containers.
std::string visible_devices(const std::vector<Device>& devices);

// {"way": "direct", "reason": "…"}, as a run's record keeps it.
Json to_json(const ContainerGpus& gpus);

}  // namespace ponk::gpu
