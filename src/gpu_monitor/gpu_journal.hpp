// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/run_directory.hpp"
#include "gpu/device.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <map>
#include <string>
#include <vector>

namespace ponk::gpu_monitor {

// The metrics of a run's GPUs, in a metric journal of their own beside those of the script
// (docs/design/metric-journal.md): `system/gpu.N.utilisation` and so on. A journal that cannot be
// written is not a reason to stop.
class GpuJournal {
public:
    GpuJournal(const executor::RunDirectory& directory,
               const std::string& run,
               const std::vector<gpu::Device>& devices,
               std::int64_t started);

    void add(const gpu::Sample& sample);

private:
    void write(const Json& payload);

    os::Fd file_;
    std::int64_t started_;                    // wall-clock milliseconds
    std::map<std::string, unsigned> places_;  // by uuid
    std::map<std::string, double> first_energy_;
};

}  // namespace ponk::gpu_monitor
