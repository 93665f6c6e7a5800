// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context.hpp"

namespace ponk::daemon {

// After a lost database: records again every run whose folder is there. What the folder cannot
// tell (metrics come back from the journals, arguments from the spec) stays empty; a run that is
// still going is followed to its end.
Result<> import_run_directories(const engine::Context& context);

}  // namespace ponk::daemon
