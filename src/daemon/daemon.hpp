// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <chrono>
#include <string>

namespace ponk::daemon {

struct Options {
    os::Path home;
    // Ends by itself when for this long nothing ran and nobody asked; 0 means never.
    std::chrono::seconds idle_limit{600};
    // Gets "ready" and a line end once the socket answers, or {"error": …} when it never will (a
    // full disk takes no log), then is closed; -1: nobody waits.
    int ready_fd = -1;
};

// Serves until told to stop, idle, or hit by SIGTERM or SIGINT. `conflict` when another daemon
// serves this home.
Result<> run(const Options& options);

}  // namespace ponk::daemon
