// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/verdict/own_processes.hpp"

namespace ponk::gpu {

// A run that has this process and its descendants.
inline RunProcesses processes_below(pid_t pid, std::uint64_t start = 0)
{
    RunProcesses run;
    run.roots = {{.pid = pid, .start_ticks = start}};
    return run;
}

}  // namespace ponk::gpu
