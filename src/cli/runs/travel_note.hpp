// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"

namespace ponk::cli {

// Says so when a folder that a command has written lies in the project and would travel with each
// further run.
void note_what_travels(const Context& context, const os::Path& project, const os::Path& folder);

}  // namespace ponk::cli
