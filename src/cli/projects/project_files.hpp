// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <string>
#include <vector>

namespace ponk::cli {

// Copies a folder's files, modes and links (as links) into the existing folder `to`, leaving out
// the names given at its top.
Result<>
copy_project(const os::Path& from, const os::Path& to, const std::vector<std::string>& left_out);

// What a new project lacks: aml_config with a local target, .azureml/project.json with a fresh id.
// Files that are there stay as they are, but for the id: a copy is a project of its own.
Result<> complete_project(const os::Path& folder, const std::string& name);

// git clone, with git's own words on standard error.
Result<> clone_repository(const std::string& url, const os::Path& to);
bool is_repository_url(const std::string& text);

}  // namespace ponk::cli
