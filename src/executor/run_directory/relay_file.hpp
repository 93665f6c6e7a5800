// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"

#include <string>

namespace ponk::executor {

// Whether MLflow's clients of the run are answered where it is. A configuration that names another
// server has its way.
bool has_relay(const Job& job);

// Writes what the relay must know into the run directory; `outputs` is where it sees that folder.
Result<> write_relay_file(const Job& job, std::string outputs);

}  // namespace ponk::executor
