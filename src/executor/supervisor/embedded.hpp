// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What travels inside the program: the supervisor for each processor, the relay and the Python
// modules that every run can import.
namespace ponk::executor {

using os::Path;

// The supervisor for "x86_64" or "aarch64". Fails when this build has none for it.
Result<std::string_view> stub_binary(std::string_view processor);

// Names relative to the folder that goes on PYTHONPATH, and contents.
std::vector<std::pair<std::string, std::string_view>> python_modules();

// Write these below `lib` once per version, and again what is not there as it was written, and
// return where they are. The name holds the contents' hash, so that versions live side by side
// while old runs still use theirs.
Result<Path> install_stub(const Path& lib);
// For machines of this program's own processor.
Result<Path> install_relay(const Path& lib);
Result<Path> install_python_modules(const Path& lib);

// What runs of a machine need of ours.
struct Installed {
    Path stub;
    Path relay;
    Path python_modules;
};
Result<Installed> install_programs(const Path& lib);

// Rewrites what of all this is missing or damaged, and returns where that is.
Result<std::vector<Path>> repair_installed(const Path& lib);

}  // namespace ponk::executor
