// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/probe/driver_child.hpp"
#include "gpu/probe/probe.hpp"

namespace ponk::gpu {

// NVIDIA's own program, for machines where ours cannot be executed: dearer (a process per request)
// and coarser (no energy, no activity).
class SmiProbe : public Probe {
public:
    SmiProbe(Path program, std::vector<std::string> environment);

    Result<Inventory> inventory(Deadline deadline, std::stop_token stop) override;
    Result<Sample> sample(Deadline deadline, std::stop_token stop) override;

private:
    struct Said {
        int status = 0;
        std::string text;
    };
    Result<Said>
    run(const std::vector<std::string>& words, Deadline deadline, const std::stop_token& stop);

    Path program_;
    std::vector<std::string> environment_;
    DriverChild child_;
    std::vector<Device> known_;  // of the last inventory
    std::string instances_;      // `nvidia-smi -L` of that moment, where a card is in MIG mode
};

}  // namespace ponk::gpu
