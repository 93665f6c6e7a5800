// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <functional>
#include <optional>
#include <string_view>

namespace ponk::cli {

// How the daemon is to run. The command line knows nothing else about it.
struct DaemonOptions {
    os::Path home;                         // made already, ours alone
    std::function<void()> on_ready;        // called once, when the socket answers; may be empty
    std::optional<int> idle_exit_seconds;  // leave after so long without work; absent: as it likes
};

// What the program puts in, so that this folder needs nothing of the daemon's.
struct Entry {
    Result<> (*run_daemon)(const DaemonOptions& options) = nullptr;
    std::string_view samples = {};  // the packed gallery (tools/pack_samples.py)
};

int main_entry(int argc, char** argv, const Entry& entry);

}  // namespace ponk::cli
