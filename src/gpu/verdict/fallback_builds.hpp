// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::gpu {

using os::Path;

// A framework that a process has loaded, and whether that build of it knows GPUs.
struct FrameworkBuild {
    std::string name;     // "PyTorch"
    std::string version;  // empty when not known
    enum class Gpu { yes, no, unknown } gpu = Gpu::unknown;
    std::string because;  // of `no`: the fact that shows it
};

// From the files that a process has mapped; `root` is the open folder that is its root. Links in
// there are the process's: they lead to its files, never to ours.
std::vector<FrameworkBuild> find_builds(const std::vector<std::string>& mapped, int root);

// The libraries of CUDA that are mapped.
struct CudaLibraries {
    std::optional<int> runtime_major;  // of libcudart: the newest
    bool driver = false;               // libcuda.so.1, which comes with the driver
    std::string driver_version;        // "580.65.06", where its file is named after it
};
CudaLibraries find_cuda_libraries(const std::vector<std::string>& mapped);

}  // namespace ponk::gpu
