// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "gpu/device.hpp"

namespace ponk::executor {

// Processes on a GPU with what this machine knows of them: [{pid, memory, sm_utilisation?, user,
// program, run}…]. `run` is the run they belong to, where we may read their environment; the fields
// are null where nothing is known.
JsonArray describe_processes(const std::vector<gpu::DeviceProcess>& processes);

}  // namespace ponk::executor
