// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <string>
#include <vector>

namespace ponk::engine {

// The command of an MLproject entry point as words for exec, its parameters filled in from
// "-P name=value" words (values are quoted for the shell), else from their defaults. Parameters
// that the entry point does not know are appended as "--name value", as MLflow does.
Result<std::vector<std::string>> resolve_entry_point(const os::Path& project,
                                                     const std::string& name,
                                                     const std::vector<std::string>& words);

}  // namespace ponk::engine
