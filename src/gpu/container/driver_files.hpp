// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "gpu/device.hpp"
#include "os/file.hpp"

#include <functional>
#include <string>
#include <vector>

// What of a machine's driver a process needs that uses GPUs: device files and libraries.
// docs/design/gpu.md, "Containers".
namespace ponk::gpu {

using os::Path;

// Runs a program of the machine and returns what it printed; `not_found` when it is not there.
using AskProgram = std::function<Result<std::string>(const std::vector<std::string>& argv)>;
// The real ones, found on PATH of `environment`; each gets a few seconds.
AskProgram ask_programs_of(const std::vector<std::string>& environment);

struct DriverSearch {
    Path root = "/";             // a made tree in tests
    std::string driver_version;  // as the kernel has it loaded; libraries of it are preferred
    AskProgram ask;
};

struct DriverFiles {
    struct File {
        Path source;       // the real file, no link
        std::string name;  // that programs look for
    };

    std::vector<std::string> nodes;  // device files
    std::vector<File> libraries;
    std::vector<File> programs;
    std::vector<std::string> folders;  // that must be seen where they are
    std::vector<std::string> remarks;  // sentences: what is missing or odd, without being needed
};

// `not_found` says which file without which no GPU can be used is missing.
Result<DriverFiles> find_driver_files(const std::vector<Device>& devices,
                                      const DriverSearch& search);

}  // namespace ponk::gpu
