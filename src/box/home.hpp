// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

namespace ponk::box {

using os::Path;

// Makes sure of the folder that everything of ponk on this machine lives in. Refuses one that runs
// cannot be kept in (read-only, on a network file system, nothing may be executed from it, open to
// others) with advice for who set up the target.
Result<> open_home(const Path& home);

}  // namespace ponk::box
