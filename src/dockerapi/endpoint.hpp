// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <string>
#include <vector>

namespace ponk::dockerapi {

using os::Path;

// Where the user's engine listens: DOCKER_HOST, else DOCKER_CONTEXT or the current context of the
// Docker client's settings, else the first of the usual places that is there (the system's engine,
// a rootless one, Podman's). `environment` holds "K=V" words.
//
// Fails for an endpoint that is not a Unix socket: an engine elsewhere is a target reached by SSH.
Result<Path> find_socket(const std::vector<std::string>& environment);

// Why nobody answers at `socket`, as `unreachable`: absent, closed to this user, stopped, or the
// connection broke; else the error itself.
Error explain_unreachable(const Path& socket, const Error& error);
// Whether the error says one of that, on this machine or another.
bool is_engine_missing(const Error& error);

}  // namespace ponk::dockerapi
