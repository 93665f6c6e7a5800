// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "engine/plan/plan.hpp"
#include "model/run.hpp"
#include "target/executor.hpp"

namespace ponk::engine {

// What an executor is told about a run; secrets are looked up now. Without `ambient` (it is used
// up, or a restart lost it) the spec has no environment.
Result<target::JobSpec> make_job_spec(const Context& context,
                                      const model::Run& run,
                                      const Plan& plan,
                                      const Ambient* ambient);

}  // namespace ponk::engine
