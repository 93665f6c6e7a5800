// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"
#include "config/files/compute.hpp"
#include "ssh/connection.hpp"

namespace ponk::cli {

// How the host of a target is reached from here; `invalid_argument` when its file does not say
// where it is.
Result<ssh::Access> access_of(const os::Path& home, const config::ComputeTarget& target);

// A host that the user never attached is not contacted because a file of a project names it: on a
// terminal that is asked about once, and a yes attaches it; else the error has the line to run.
// Other targets are a success.
Result<> ensure_attached(Context& context, const config::ComputeTarget& target);

// The host, reached: with what its settings say, and where that is not enough and there is a
// terminal, with ssh's own questions on it.
Result<ssh::Connection> reach_host(Context& context, const config::ComputeTarget& target);

}  // namespace ponk::cli
