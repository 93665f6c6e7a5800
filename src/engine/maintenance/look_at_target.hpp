// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace ponk::engine {

struct TargetRequest {
    Path project;
    std::string name;
    std::vector<std::string> environment;  // the asker's, "K=V"
};

// A machine that cannot be reached is an answer of these two, not a failure.

// What a target is and has, and what prevents runs, as docs/design/api.md describes it
// ("A check").
Result<Json>
check_target(const Context& context, const TargetRequest& request, const std::stop_token& stop);

// Its GPUs, as docs/design/gpu.md describes it ("GPUs for people").
Result<Json>
list_gpus(const Context& context, const TargetRequest& request, const std::stop_token& stop);

}  // namespace ponk::engine
