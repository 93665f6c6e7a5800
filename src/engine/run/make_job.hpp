// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "engine/plan/resolve_run.hpp"
#include "executor/executor.hpp"
#include "model/run.hpp"

namespace ponk::engine {

// What the run's executor gets; secrets are looked up now. Without `submitter` (it is used up, or a
// restart lost it) the job has no environment.
Result<executor::Job> make_job(const Context& context,
                               const model::Run& run,
                               const RunSpec& spec,
                               const Submitter* submitter);

}  // namespace ponk::engine
