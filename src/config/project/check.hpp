// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/diagnostic.hpp"
#include "os/file.hpp"

#include <string_view>
#include <vector>

// What `ponk check` says.
namespace ponk::config {

// All remarks about all configuration files of a project, cross-file rules included. File names are
// relative to the project.
Result<Diagnostics> check_project(const os::Path& folder);
// The same for single files; names are shown as given. Each is judged alone, except that a run
// configuration in an aml_config folder is reported when its target or a file it names is missing.
Diagnostics check_files(const std::vector<os::Path>& files);
// The same for a text that somebody edits: the file `path` of the project, relative to it, is not
// read. A run configuration is compared with its neighbours as they are on disk.
Diagnostics check_text(const os::Path& folder, const os::Path& path, std::string_view text);

}  // namespace ponk::config
