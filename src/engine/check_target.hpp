// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/compute.hpp"
#include "engine/context.hpp"
#include "target/executor.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace ponk::engine {

// Looks at a target of a project: what it is and has, and what stands in the way of runs, as
// docs/design/api.md describes it ("A check"). A machine that cannot be reached is an answer, not a
// failure. `environment` ("K=V") is the asker's.
Result<Json> check_target(const Context& context,
                          const Path& project,
                          const std::string& target,
                          const std::vector<std::string>& environment,
                          const std::stop_token& stop);

// How an executor finds the target; `environment` is the asker's.
Result<target::FactsWish> facts_wish(const config::ComputeTarget& target,
                                     const std::vector<std::string>& environment);

}  // namespace ponk::engine
