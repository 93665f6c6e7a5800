// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/services.hpp"
#include "os/process.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ponk::api {

// Where a command prompt begins: docs/design/prompt.md.
struct PromptPlace {
    os::Command command;     // the user's shell, in the project's folder
    std::string python;      // what `python` is there; empty: there is none
    std::string first_line;  // tells the user which one that is, and why
    // Keeps its programs, and an environment that ponk built, from being removed.
    std::vector<std::shared_ptr<const void>> kept = {};
};

// Finds the Python that a submit to `local` would use, in files alone: no program is started.
// Files that cannot be understood are no obstacle: then it is the Python on PATH, and the first
// line has the reason.
Result<PromptPlace>
make_prompt_place(const Services& services, const os::Path& project, const PromptRight& right);

// The shell that the user's environment names, with the words that make it interactive.
os::Command shell_of(const std::vector<std::string>& environment, const os::Path& tools);

}  // namespace ponk::api
