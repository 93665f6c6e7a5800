// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

// One entry of git's index, as far as it tells whether a file differs from it.
struct GitIndexEntry {
    std::string path;
    std::string object_id;  // raw bytes
    std::int64_t ctime_ns = 0;
    std::int64_t mtime_ns = 0;
    std::uint32_t inode = 0;  // the lower 32 bits, as with size
    std::uint32_t size = 0;
    std::uint32_t mode = 0;
    unsigned stage = 0;          // above 0: a merge conflict
    bool assume_valid = false;   // the user said: do not look
    bool skip_worktree = false;  // not checked out
    bool intent_to_add = false;
};

struct GitIndex {
    std::vector<GitIndexEntry> entries;  // sorted by path
    std::string checksum;                // names the index's contents
};

// Our own, because git itself runs a project's filters to compare files (docs/adr/0020).
// Versions 2, 3 and 4. `hash_size` is 20, or 32 for SHA-256 repositories. `invalid_argument` for
// what is well formed but needs git itself (a split or sparse index), `damaged` for anything else.
Result<GitIndex> parse_git_index(std::string_view bytes, std::size_t hash_size);

}  // namespace ponk::config
