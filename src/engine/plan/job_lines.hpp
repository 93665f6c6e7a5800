// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/resolve_run.hpp"

namespace ponk::engine {

// On a cluster the "#SBATCH" lines of the script count, before what the target's file says. Those
// that ponk sets itself are left out with a notice; those that would make more than one process
// are errors.
Result<> apply_job_lines(ResolvedRun& run);

}  // namespace ponk::engine
