// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/executor.hpp"

#include <memory>

namespace ponk::executor::slurm {

// What the executor needs from elsewhere.
struct Options {
    Path home;       // on a file system that the cluster's nodes share
    Executor& here;  // the same home's: working copies and environments are as for a process here
    // What a node wrote may be seen here later than the controller knows of the end.
    std::chrono::milliseconds visibility{10'000};
};

// Runs of a Slurm cluster whose commands are on this machine. A job's first process is the run's
// supervisor, which writes log, record and metrics on the shared file system as anywhere else;
// nothing stays on this machine meanwhile. docs/design/slurm.md.
Result<std::unique_ptr<Executor>> make_executor(Options options);

}  // namespace ponk::executor::slurm
