// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environment/prepare.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "executor/supervisor/embedded.hpp"

#include <optional>
#include <stop_token>
#include <string>

// A run that is a process of its user: what is written for its supervisor, whoever starts that.
namespace ponk::executor {

// The run's environment of packages; nullopt when the user's own is used.
Result<std::optional<environment::Request>> request_of_process(const Job& job);

// Writes what the supervisor reads into the task's folder. Returns the run's key and the script's
// environment in the form that the supervisor takes from a descriptor.
Result<std::string> write_process_task(const Job& job,
                                       const environment::Prepared* prepared,
                                       const Installed& programs,
                                       const RunKeys& keys,
                                       std::stop_token stop);

}  // namespace ponk::executor
