// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::cli {

// An address that the daemon serves besides its own socket and port.
struct ServedAddress {
    std::string host;
    std::uint16_t port = 0;
    os::Path certificate = {};  // empty: without TLS
    os::Path key = {};
    bool insecure = false;  // without TLS also where others come along
};

// How the daemon is to run. The command line knows nothing else about it.
struct DaemonOptions {
    os::Path home;  // made already, ours alone
    // Called once, when the socket answers, with what is served besides; may be empty.
    std::function<void(const std::vector<std::string>& addresses)> on_ready;
    std::optional<ServedAddress> serve;
    std::string sync = {};                 // "full", "normal"; empty: as it likes
    bool only_look = false;                // tell whether it could serve this home, and end
    std::optional<int> idle_exit_seconds;  // leave after so long without work; absent: as it likes
};

// What the program puts in, so that this folder needs nothing of the daemon's.
struct Entry {
    Result<> (*run_daemon)(const DaemonOptions& options) = nullptr;
    // Whether the daemon would serve this address, as far as can be known before it does.
    Result<> (*check_serve)(const ServedAddress& address) = nullptr;
    std::string_view samples = {};  // the packed gallery (tools/pack_samples.py)
    std::string_view report = {};   // a report without data (web/build/report.mjs); may be empty
};

}  // namespace ponk::cli
