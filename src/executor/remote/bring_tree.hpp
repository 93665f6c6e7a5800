// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/remote/agent_calls.hpp"

namespace ponk::executor::remote {

// Brings the run's tree to its machine and asks there for something that needs it (`call` is
// "stage" or "examine"), through breaks of the connection.
Result<AgentCalls::Answer> bring_tree(const Options& options,
                                      const std::string& call,
                                      const Job& job,
                                      const Progress& progress,
                                      const std::stop_token& stop);

// A host has its own logins and mostly the image too: it gets ours when it says that it could not
// do without.
Job without_login(const Job& job);

}  // namespace ponk::executor::remote
