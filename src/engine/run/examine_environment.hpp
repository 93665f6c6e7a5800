// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "engine/plan/resolve_run.hpp"
#include "executor/job/environment_report.hpp"

#include <stop_token>

namespace ponk::engine {

struct EnvironmentOutlook {
    ResolvedRun run;
    executor::Examination found;
};

// Whether a run of this request could start at once, and what it would need first. Nothing is
// built, nothing is recorded.
Result<EnvironmentOutlook> examine_environment(const Context& context,
                                               const RunRequest& request,
                                               const Submitter& submitter,
                                               std::stop_token stop);

}  // namespace ponk::engine
