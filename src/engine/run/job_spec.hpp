// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "engine/plan/plan.hpp"
#include "executor/executor.hpp"
#include "model/run.hpp"

namespace ponk::engine {

// What an executor gets to know about a run; secrets are looked up now. Without `launch_context`
// (it is used up, or a restart lost it) the spec has no environment.
Result<executor::JobSpec> make_job_spec(const Context& context,
                                        const model::Run& run,
                                        const Plan& plan,
                                        const LaunchContext* launch_context);

}  // namespace ponk::engine
