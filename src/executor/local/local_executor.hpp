// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/executor.hpp"
#include "executor/run_directory/working_copy.hpp"

#include <memory>

namespace ponk::executor::local {

// What the executor needs from elsewhere.
struct Options {
    Path home;  // $PONK_HOME: the supervisor and the Python modules are written below `lib/`
    TreeStore trees;
};

// Runs on this machine. Each run is owned by a supervisor process of its own; this process only
// watches the files it writes, and takes over when it is killed. For that the process becomes
// the reaper of orphaned processes below it (PR_SET_CHILD_SUBREAPER).
//
// Fails when the supervisor cannot be written below `home`.
Result<std::unique_ptr<Executor>> make_executor(Options options);

}  // namespace ponk::executor::local
