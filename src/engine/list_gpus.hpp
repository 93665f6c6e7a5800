// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace ponk::engine {

// The GPUs of one target of a project, as docs/design/gpu.md describes it ("GPUs for people"). A
// machine that cannot be reached is an answer, not a failure. `environment` ("K=V") is the asker's.
Result<Json> list_gpus(const Context& context,
                       const Path& project,
                       const std::string& target,
                       const std::vector<std::string>& environment,
                       const std::stop_token& stop);

}  // namespace ponk::engine
