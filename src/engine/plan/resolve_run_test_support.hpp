// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/resolve_run.hpp"

namespace ponk::engine {

// In a history that knows nothing.
inline Result<ResolvedRun> resolve_run(const RunRequest& request, const Submitter& submitter)
{
    return resolve_run(request, submitter, TRY(identify_project(request.project)));
}

}  // namespace ponk::engine
