// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "engine/plan/plan.hpp"

// Files of a project ask, and the user decides (docs/design/consents.md): whether its machine may
// be contacted, which secrets it may read, what of the host a container of it may have.
namespace ponk::engine {

// Fails with the line that allows it when something is not allowed yet. Secrets that the submission
// itself names are the user's decision.
Result<>
require_consents(const Context& context, const PlanReport& report, const Submission& submission);
// What the user named with a submission is allowed from then on: a rerun may use it, too.
Result<>
allow_given_secrets(const Context& context, const PlanReport& report, const Submission& submission);
// The same as the first of a stored plan.
Result<> require_consents(const Context& context, const Plan& plan, const Path& project);

}  // namespace ponk::engine
