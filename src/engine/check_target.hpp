// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context.hpp"

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

}  // namespace ponk::engine
