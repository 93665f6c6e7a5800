// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "engine/plan/plan.hpp"

namespace ponk::api {

// What a client asks for, as docs/design/api.md shows it under "Submit".
Result<engine::Submission> submission_of(const Json& body);
// The client's environment and umask.
Result<engine::LaunchContext> launch_context_of(const Json& body);

}  // namespace ponk::api
