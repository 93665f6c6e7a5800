// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::daemon {

// An address to serve besides the daemon's own endpoints.
struct ServeOptions {
    std::string host;
    std::uint16_t port = 0;
    os::Path certificate = {};  // empty: without TLS
    os::Path key = {};
    enum class Plain { on_loopback, anywhere } plain = Plain::on_loopback;
};

// Whether such an address may be served, as far as that is known without opening it: its name, its
// certificate and key, and whether it needs them.
Result<> check_serve(const ServeOptions& options);

struct Options {
    os::Path home;
    // Ends by itself when for this long nothing ran and nobody asked; 0 means never.
    std::chrono::seconds idle_limit{600};
    // The program for other machines of this processor; empty: this build has none.
    std::string_view host_program = {};
    // Called once, when the socket answers, with the addresses that `serve` opened; may be empty.
    std::function<void(const std::vector<std::string>& addresses)> on_ready = {};
    std::optional<ServeOptions> serve = {};
    // "full", "normal"; empty: what the variable PONK_SYNC says, else "full".
    std::string sync = {};
    // look: only tells whether it could serve this home, by its version and its runs.
    enum class Purpose { serve, look } purpose = Purpose::serve;
};

// Serves until told to stop, idle, or hit by SIGTERM or SIGINT. `conflict` when another daemon
// serves this home.
Result<> run(const Options& options);

}  // namespace ponk::daemon
