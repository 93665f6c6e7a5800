// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/daemon.hpp"

#include <string>

namespace ponk::cli {

// The project that history knows by this id, name or folder. `path` is `wanted` as a folder.
Result<Json> find_named_project(Daemon& daemon, const std::string& wanted, const std::string& path);

}  // namespace ponk::cli
