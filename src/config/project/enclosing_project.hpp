// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <functional>

namespace ponk::config {

// Whether history has runs of the project in this folder.
using IsKnown = std::function<bool(const os::Path& folder)>;

// The project that a folder belongs to: the folder itself, or the nearest one above it that has
// aml_config, .azureml or .git, or that history knows. Never the home folder, the root, or a folder
// of another file system. The folder itself when there is none.
os::Path enclosing_project(const os::Path& folder, const os::Path& home, const IsKnown& is_known);

}  // namespace ponk::config
