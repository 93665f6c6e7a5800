// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/project/project.hpp"
#include "model/run_request.hpp"

#include <optional>
#include <string>

namespace ponk::config {

// The entry point of the MLproject that a submission means: the one of '-e'; one that is named like
// a script where there is no such file; 'main' where nothing names a script. nullopt: none.
std::optional<std::string> entry_point_of(const Project& project,
                                          const RunConfiguration& run,
                                          const model::RunRequest& request);

// The folder's MLproject. The error has each reason with its place; remarks go to `diagnostics`.
Result<MlProject> load_mlproject(const Project& project, Diagnostics& diagnostics);

// When the submission means an entry point: what its MLproject says goes before the target's words.
// `docker_env` makes this machine a container, with that image, its volumes and variables.
Result<> use_mlproject(const Project& project,
                       const model::RunRequest& request,
                       ResolvedConfiguration& resolved);

}  // namespace ponk::config
