// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/project/project.hpp"
#include "engine/plan/resolve_run.hpp"

namespace ponk::engine {

// What runs: a command, a module, an entry point or a script, with its words and the folder it
// starts in. The command line goes before the configuration. Inputs that an entry point's
// parameters name are added to the request.
Result<> resolve_program(ResolvedRun& report,
                         RunRequest& request,
                         const config::ResolvedConfiguration& resolved,
                         const config::Project& project,
                         const Submitter& submitter);

}  // namespace ponk::engine
