// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/project/project.hpp"
#include "engine/plan/resolve_run.hpp"

namespace ponk::engine {

// Which Python and which packages the run gets: the first of what the command line says, the run
// configuration, the script itself, an environment of the user's own, and the files of the project
// that name packages; else the Python on PATH. docs/design/environments.md has the whole order.
Result<> choose_packages(const RunRequest& request,
                         const Submitter& submitter,
                         const config::ResolvedConfiguration& resolved,
                         ResolvedRun& run);

}  // namespace ponk::engine
