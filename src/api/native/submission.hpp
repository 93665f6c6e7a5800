// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "engine/plan/resolve_run.hpp"

namespace ponk::api {

// The client's environment and umask, as docs/design/api.md shows them under "Submit".
Result<engine::Submitter> submitter_of(const Json& body);

}  // namespace ponk::api
