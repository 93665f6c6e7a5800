// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/script/script_files.hpp"
#include "engine/plan/resolve_run.hpp"

namespace ponk::engine {

// The run's script and the project's modules that it imports; nothing where the run executes
// something else than a Python file or a notebook, or where the files cannot be read.
std::optional<config::ScriptFiles> files_of_script(const ResolvedRun& run);

// Projects of 2017 were executed inside of a program that had imported `os` and `sys`: a script
// that uses them without importing them gets them, and a notice says so.
Result<> give_names(ResolvedRun& run);

}  // namespace ponk::engine
