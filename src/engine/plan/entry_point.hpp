// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/project/project.hpp"
#include "engine/plan/resolve_run.hpp"

#include <string>
#include <vector>

namespace ponk::engine {

// An entry point of an MLproject with its parameters filled in, as 'mlflow run' does it.
struct EntryCommand {
    std::string text;                 // for a shell; values are quoted
    Variables parameters;             // each with its value, for the record
    std::vector<std::string> inputs;  // of the project, named by parameters, that do not travel
};

// Parameters that the entry point does not declare are appended as "--NAME VALUE". What cannot be
// done is refused with the place in the file.
Result<EntryCommand> entry_command(const config::ResolvedConfiguration& resolved,
                                   const std::string& name,
                                   const Variables& given,
                                   const Path& project);

// The request's parameters and the words "-P NAME=VALUE" behind the entry point's name; the later
// wins.
Result<Variables> given_parameters(const RunRequest& request);

}  // namespace ponk::engine
