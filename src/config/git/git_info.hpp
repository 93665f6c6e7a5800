// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>

namespace ponk::config {

// Where a project stands in its git repository.
struct GitInfo {
    std::string commit;  // hex; empty before the first commit
    std::string branch;  // empty when HEAD is detached
    std::string remote;  // URL of "origin" (else of the first remote) without user and password
    // Tracked files differ from the commit. nullopt: could not be told in the time given.
    std::optional<bool> dirty;

    friend bool operator==(const GitInfo&, const GitInfo&) = default;
};

// Where a repository keeps its things, for a folder somewhere in its work tree.
struct GitPlace {
    os::Path work_tree;
    os::Path git_dir;     // HEAD and index
    os::Path common_dir;  // refs and config; another one for linked work trees
};

// Looks upwards from `directory`. nullopt when it is in no repository. Starts no program.
Result<std::optional<GitPlace>> find_git(const os::Path& directory);
// Commit, branch and remote, read from the files. `dirty` is left open.
Result<GitInfo> read_git_head(const GitPlace& place);

}  // namespace ponk::config
