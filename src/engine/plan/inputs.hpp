// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/run_configuration.hpp"
#include "engine/plan/resolve_run.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace ponk::engine {

// The inputs that the command line and the run configuration name, not measured yet. Files of a
// project may name what lies in its folder only: anything else is the user's to give.
Result<std::vector<model::Input>> resolve_inputs(const RunRequest& request,
                                                 const config::RunConfiguration& configuration,
                                                 const Path& project);

// The input as it is now. Takes as long as there are files in it, and bytes where it has a digest.
Result<model::Input> measure(const model::Input& input, std::stop_token stop);

// "input 'data' has 3 files (12 MB), before 4 files (13 MB)"; empty when they are the same.
std::string difference(const model::Input& before, const model::Input& now);

}  // namespace ponk::engine
