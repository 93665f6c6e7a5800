// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/project/project.hpp"
#include "engine/plan/resolve_run.hpp"

namespace ponk::engine {

// Dependency files that the command line names: each must be there; a Spark file that this run does
// not use gets a notice.
Result<> check_named_files(const RunRequest& request, ResolvedRun& report);

// On this machine an interpreter that is not there is reported before a run is recorded, with the
// place that names it.
Result<> check_interpreter(const RunRequest& request,
                           const Submitter& submitter,
                           const config::ResolvedConfiguration& resolved,
                           const ResolvedRun& report);

// The same for the program of a command. One that may come with the run's environment is looked for
// when that is there.
Result<> check_command(const Submitter& submitter, const ResolvedRun& report);

}  // namespace ponk::engine
