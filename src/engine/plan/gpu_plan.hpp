// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/project/resolve.hpp"
#include "engine/plan/resolve_run.hpp"

#include <optional>
#include <string>

namespace ponk::engine {

// The GPUs of a run: what the command line says, else the run configuration, else the target; else
// all of the machine, as in 2017, or one where the machine is shared with others. A container gets
// some only when its target or its configuration says that it has any.
// `variables` are the script's. What the user should know is added to `notices`.
Result<model::GpuRequest> gpu_request_of(const config::ResolvedConfiguration& resolved,
                                         const RunRequest& request,
                                         const Submitter& submitter,
                                         const Variables& variables,
                                         std::vector<std::string>& notices);

// On a cluster Slurm gives them: their number goes to its `gres`, and is what the run asks for.
Result<model::GpuRequest> ask_slurm_for_gpus(const config::ResolvedConfiguration& resolved,
                                             const RunRequest& request,
                                             model::SlurmSpec& slurm);

}  // namespace ponk::engine
