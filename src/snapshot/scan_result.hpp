// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "snapshot/git_dirty.hpp"
#include "snapshot/stat_cache.hpp"
#include "snapshot/tree_scan.hpp"

#include <cstdint>
#include <string>
#include <vector>

// What is made of a finished scan. `cache` is the one the scan used, or null.
namespace ponk::snapshot {

// The manifest's text; counts files and bytes into `facts`.
std::string manifest_text(const TreeScan& scan, const StatCache* cache, CacheFacts& facts);

// The next stat cache. `started_ns` is a wall clock time from before the scan: what changed later
// than a little before it is not trusted.
std::string cache_bytes(const TreeScan& scan,
                        const StatCache* cache,
                        const CacheFacts& facts,
                        std::int64_t started_ns);

std::vector<TreeFile> tree_files(const TreeScan& scan, const StatCache* cache);

// A change after `started_ns` cannot carry the times in `status`, however coarse the clock of the
// file system is.
bool is_stable(const os::FileStatus& status, std::int64_t started_ns);

}  // namespace ponk::snapshot
