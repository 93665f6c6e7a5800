// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.hpp"
#include "gpu/device.hpp"
#include "os/file.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace ponk::gpu {

using os::Path;

// The driver of this machine, asked through a process of its own: a driver that hangs or crashes
// takes nobody with it. One thread.
class Probe {
public:
    virtual ~Probe() = default;

    virtual Result<Inventory> inventory(Deadline deadline, std::stop_token stop) = 0;
    // `unavailable` when the driver does not answer any more.
    virtual Result<Sample> sample(Deadline deadline, std::stop_token stop) = 0;
};

struct ProbeOptions {
    Path lib;                              // where programs of ours are installed
    std::vector<std::string> environment;  // "K=V": PATH finds nvidia-smi
    Path root = "/";                       // of /sys, /dev and /proc; a made tree in tests
};

// True when there is any sign of a GPU driver here; costs a few stat() calls. PONK_GPU_PROBE names
// a program that speaks the probe protocol instead of the drivers, or is "none".
bool may_have_gpus(const std::vector<std::string>& environment, const Path& root = "/");

// The first way that works: PONK_GPU_PROBE, NVML, nvidia-smi, AMD's sysfs. Never fails for lack of
// GPUs: the inventory is empty then and says why.
Result<std::unique_ptr<Probe>>
open_probe(const ProbeOptions& options, Deadline deadline, std::stop_token stop);

}  // namespace ponk::gpu
