// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/diagnostic.hpp"
#include "os/file.hpp"

#include <vector>

// What `ponk check` says.
namespace ponk::config {

// All remarks about all configuration files of a project, cross-file rules included. File names are
// relative to the project.
Result<Diagnostics> check_project(const os::Path& folder);
// The same for single files; names are shown as given. Each is judged alone, except that a run
// configuration in an aml_config folder is reported when its target or a file it names is missing.
Diagnostics check_files(const std::vector<os::Path>& files);

}  // namespace ponk::config
