// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/resolve_run.hpp"

namespace ponk::engine {

// Python runs scripts, unless they say otherwise: shell scripts and scripts whose first line names
// an interpreter ("#!") are commands, notebooks are executed by a module of ours. What nothing here
// can run is reported before a run is recorded, not by a syntax error in its log.
Result<> choose_program(ResolvedRun& run);

}  // namespace ponk::engine
