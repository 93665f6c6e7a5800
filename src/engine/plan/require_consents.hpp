// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "engine/plan/resolve_run.hpp"

// Files of a project ask, and the user decides (docs/design/consents.md): whether its machine may
// be contacted, which secrets it may read, what of the host a container of it may have.
namespace ponk::engine {

// Fails with the line that allows it when something is not allowed yet. Secrets that the request
// itself names are the user's decision.
Result<>
require_consents(const Context& context, const ResolvedRun& report, const RunRequest& request);
// What the user named with a request is allowed from then on: a rerun may use it, too.
Result<>
allow_given_secrets(const Context& context, const ResolvedRun& report, const RunRequest& request);
// The same as the first for a stored specification.
Result<> require_consents(const Context& context, const RunSpec& spec, const Path& project);

}  // namespace ponk::engine
