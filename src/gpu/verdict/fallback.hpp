// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/device.hpp"
#include "os/file.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

// Why a run does not use its GPUs, from what can be seen of its processes while they live, and from
// what its script says. docs/design/gpu.md, "Verdict".
namespace ponk::gpu {

using os::Path;

struct Finding {
    std::string
        code;  // "cpu-build", "hidden-devices", "other-devices", "cuda-newer-than-driver", …
    std::string sentence;  // without a full stop
    // Positive evidence that the run's main process cannot use the leased GPUs, whatever it does
    // next. Of others nothing is: one that prepares data may well be built for the CPU.
    bool certain = false;
    pid_t pid = 0;  // of the process in which it was seen; 0: of none
};

struct ProcessView {
    Path proc = "/proc";
    Path files;      // root of the processes' files; empty: of each process its own, /proc/PID/root
    pid_t main = 0;  // the run's main process; 0: not known, and nothing is certain
};

// `leased`: the run's devices with the driver's versions. The certain ones first. Reads the maps of
// each process: some milliseconds for a large one.
std::vector<Finding> find_fallback(const std::vector<pid_t>& pids,
                                   const Inventory& leased,
                                   const ProcessView& view = {});

// Places in the script, and in what it imports from the project, that hide devices; never certain:
// whether a line is reached is not known. `script` is relative to `folder`. Files are the script's,
// so no link leads out of the folder.
std::vector<Finding> scan_scripts(const Path& folder, const std::string& script);

}  // namespace ponk::gpu
