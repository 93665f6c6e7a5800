// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"
#include "store/history/history.hpp"

#include <string>

namespace ponk::engine {

using os::Path;

// Which project a folder is.
struct ProjectKey {
    std::string id;
    std::string name;
    Path path;  // canonical
    // By what it is known again when it moves (docs/design/projects.md).
    std::string place;
    std::string repository;
    Path moved_from;  // empty: it has not
};

// By the folder alone: Id of project.json, else 32 hex digits of its canonical path.
Result<ProjectKey> identify_project(const Path& folder);

// As history knows it: the id that runs of this folder have, or had where it was before. Nothing is
// written.
Result<ProjectKey> identify_project(const store::History& history, const Path& folder);

}  // namespace ponk::engine
