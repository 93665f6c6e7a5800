// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/gpu/monitor.hpp"
#include "gpu/device.hpp"
#include "gpu/lease/lease.hpp"
#include "os/fd.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ponk::gpu_monitor {

using os::Path;

// How a run is begun once its GPUs are known: as a process of this machine, or as a container.
class RunStarter {
public:
    virtual ~RunStarter() = default;
    // The way in which the GPUs get there, for the record; null when they are simply there.
    virtual Result<Json> start(const std::vector<gpu::Device>& devices,
                               const std::vector<gpu::Lease>& leases) = 0;
    // Asks the run to end; the request is in its directory already.
    virtual void ask_to_end() = 0;
    // The id of its container, when there is one.
    [[nodiscard]] virtual std::string container() const { return {}; }
};

struct StarterOptions {
    const executor::MonitorJob& job;
    const executor::RunDirectory& directory;
    const executor::SealedFiles& files;
    std::vector<std::string> environment;  // of the script: "K=V"
    std::string key;
    std::vector<std::string> own_environment;  // of this process
    std::string driver_version;
    int lease = -1;
};

std::unique_ptr<RunStarter> start_as_process(const StarterOptions& options);
std::unique_ptr<RunStarter> start_as_container(const StarterOptions& options);

// What tells frameworks which devices to use.
std::vector<std::pair<std::string, std::string>>
device_variables(const std::vector<gpu::Device>& devices);

}  // namespace ponk::gpu_monitor
