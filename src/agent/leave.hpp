// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::agent {

// Takes away what the runs with these names (one a line) have outside of `home`: containers; and,
// when no run of another machine is in it, the images of environments. After that the folder can be
// deleted without anything being forgotten. Returns a sentence for each thing that stays, and why.
Result<std::vector<std::string>> leave(const os::Path& home, std::string_view own_runs);

}  // namespace ponk::agent
