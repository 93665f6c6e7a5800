// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/services.hpp"
#include "base/json.hpp"
#include "os/process.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace ponk::api {

// Runs a command of this program as its user would, without a terminal to ask on, and returns what
// it answers with '-o json', or its error: what only commands do is done the same way for the page.
// Values of options are given as "--option=value", so that none is taken for an option. What other
// users of the machine must not read in the list of processes goes to its standard input.
Result<Json> run_own_command(const Services& services,
                             std::vector<std::string> words,
                             std::chrono::seconds limit,
                             std::string input = {});

// Runs a command as long as the request's client waits for it: then it and what
// it started in its session are killed, and the error says why.
Result<os::Output> run_while_wanted(const os::Command& command, std::chrono::seconds limit);

}  // namespace ponk::api
