// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/control_seal.hpp"

#include <optional>

// What the files of a run directory on this machine say about the run.
namespace ponk::executor {

// Sets the lengths of log and journals.
void read_lengths(const Path& directory, JobStatus& status);
// True when there is an exit record; the status is then complete.
Result<bool> read_exit(const SealedFiles& files, const Path& directory, JobStatus& status);
// nullopt before the script has begun.
Result<std::optional<RunProcesses>> read_processes(const SealedFiles& files, const Path& directory);

// True when `now` tells something that `seen` did not, or nothing new can come.
bool is_new(const JobStatus& now, const JobStatus& seen);

}  // namespace ponk::executor
