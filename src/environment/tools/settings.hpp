// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"
#include "os/variables.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ponk::environment {

using os::Path;

// How environments are made for one user. Values only.
struct Settings {
    Path home;  // $PONK_HOME
    // The user's shell as it was ("K=V"): PATH, proxies, indexes and certificates in force.
    std::vector<std::string> environment;
    std::string conda_program;                  // a path, or an address "https://…#sha256=…"
    std::vector<std::string> default_channels;  // where a file names none
    std::string build_network;                  // of RUN steps; empty: the engine's default
    std::uint64_t smallest_free_space = std::uint64_t{1} << 30;
    std::chrono::minutes build_limit{180};
};

// PONK_CONDA, PONK_CONDA_CHANNELS (with commas), PONK_BUILD_NETWORK, PONK_ENV_FREE_SPACE (bytes).
Settings settings_from(Path home, std::vector<std::string> environment);

using os::variable;

using Variables = std::vector<std::pair<std::string, std::string>>;

// The settings among them that say how to reach indexes: proxies, PIP_*, UV_*, certificates,
// conda's. What would send packages elsewhere (PIP_TARGET…) is not among them.
Variables network_settings(const std::vector<std::string>& environment);
// Files that such settings name (certificate bundles, pip's configuration), each once.
std::vector<Path> files_named_by(const Variables& variables);
// uv does not read what is set for pip: the same meaning under its own names, where those are not
// set.
void translate_for_uv(Variables& variables);

// The environment that an installer starts with: the user's, less what would lead it astray.
std::vector<std::string> installer_environment(const Settings& settings);

}  // namespace ponk::environment
