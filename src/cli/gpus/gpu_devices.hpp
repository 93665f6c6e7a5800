// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"
#include "config/project/project.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace ponk::cli {

// Whose GPUs are meant: the targets named with -t, else all of the project that runs can go to.
struct GpuTargets {
    std::vector<std::string> names;
    std::vector<std::string> skipped;  // those of the project that cannot be asked: "bad: why"
};
tl::expected<GpuTargets, Failure> gpu_targets(const config::Project& project,
                                              const std::vector<std::string>& named);

// One answer of POST /gpus (docs/design/gpu.md, "GPUs for people").
Result<Json> ask_gpus(Daemon& daemon,
                      const os::Path& project,
                      const std::string& target,
                      std::stop_token stop = {});

// The devices of several answers, each with its `targets`, `address`, `driver_version` and
// `cuda_version`. A machine that is several targets (its Python, its containers) counts once.
JsonArray devices_of(const std::vector<Json>& answers);

// "1.5 of 80.0 GiB".
std::string memory_text(const Json& device);
// "97 %"; a dash where it is not known.
std::string percent_text(const Json& value);
// What a table shows of the devices that devices_of gives.
View view_of_gpus(const JsonArray& devices);

// Who has it: of the lease, else of the processes; empty when nobody has.
std::string holder_text(const Json& device);

}  // namespace ponk::cli
