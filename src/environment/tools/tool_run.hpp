// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environment/address/address.hpp"
#include "os/process.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ponk::environment {

using Progress = std::function<void(const std::string& line)>;

// An installer's run, from start to end.
struct ToolRun {
    std::string name;  // for messages: "pip", "micromamba"
    std::vector<std::string> argv;
    std::vector<std::string> environment;
    os::Path directory;
    // Stays open in the tool, so that a lock outlives us as long as the tool works: a builder that
    // comes after we were killed waits for it. -1: none.
    int held_lock = -1;
};

// Each line it prints, without secrets, goes to `progress`. The tool and everything it started ends
// when stopped or past the deadline. The error of a tool that failed holds the end of what it
// printed, and advice where the text is a known one.
Result<> run_tool(const ToolRun& tool,
                  const Redactor& redactor,
                  const Progress& progress,
                  Deadline deadline,
                  std::stop_token stop);

// What to do about the end of an installer's output; empty when it is not known.
std::string advice_for(std::string_view output);

}  // namespace ponk::environment
