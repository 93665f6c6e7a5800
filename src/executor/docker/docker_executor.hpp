// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/executor.hpp"
#include "executor/run_directory/working_copy.hpp"

#include <memory>

namespace ponk::executor::docker {

// What the executor needs from elsewhere.
struct Options {
    Path home;  // $PONK_HOME: the supervisor and the Python modules are written below `lib/`
    TreeStore trees;
};

// Runs in a container of the engine on this machine (Docker or Podman). The supervisor is the
// container's first process and writes the same run directory as without a container, which is
// mounted into it; the engine's own log and exit code are only evidence for when that one is
// silent.
//
// A job's text is the run's id, which is the container's name. `containers/ID` below the home names
// the engine's socket.
Result<std::unique_ptr<Executor>> make_executor(Options options);

}  // namespace ponk::executor::docker
