// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <chrono>
#include <functional>
#include <string_view>

namespace ponk::daemon {

struct Options {
    os::Path home;
    // Ends by itself when for this long nothing ran and nobody asked; 0 means never.
    std::chrono::seconds idle_limit{600};
    // The program for other machines of this processor; empty: this build has none.
    std::string_view box_program = {};
    // Called once, when the socket answers; may be empty.
    std::function<void()> on_ready = {};
};

// Serves until told to stop, idle, or hit by SIGTERM or SIGINT. `conflict` when another daemon
// serves this home.
Result<> run(const Options& options);

}  // namespace ponk::daemon
