// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"
#include "config/project/project.hpp"

namespace ponk::cli {

// Asks on the terminal, once, about each thing that the files of the project ask for and were not
// allowed; a yes is kept. Without a terminal nothing is asked: the daemon refuses, and says how it
// is allowed.
Result<> ask_for_consents(Context& context,
                          const os::Path& project,
                          const config::ResolvedConfiguration& resolved);

}  // namespace ponk::cli
