// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <string>
#include <string_view>
#include <vector>

// Only the folder's own aml_config counts; a user who is one folder too high gets a message.
namespace ponk::config {

// The configuration files of the folder itself, as names seen from it: what 'ponk check' reads,
// without .gitignore, which nearly every folder has.
Result<std::vector<std::string>> configuration_files(const os::Path& folder);

// A folder not far below, seen from `folder`, whose aml_config has a file of this name, or any
// target or run configuration when the name is empty. Empty: none was found.
std::string folder_with_configuration(const os::Path& folder, std::string_view file = {});

}  // namespace ponk::config
