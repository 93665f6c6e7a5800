// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "config/git/git_info.hpp"
#include "config/ignore/travel_rules.hpp"
#include "os/file.hpp"
#include "snapshot/lease.hpp"
#include "snapshot/left_out.hpp"
#include "snapshot/object_store.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::snapshot {

// Which names stay out. `ignored` gets paths relative to the project without a final slash; it is
// called from several threads and never for what lies below an ignored folder.
struct IgnorePolicy {
    // Asked before `ignored`; null: a folder that is not a project.
    const config::TravelRules* rules = nullptr;
    std::function<bool(std::string_view relative_path, bool is_directory)> ignored;
    // Changes whenever the rules change (a digest of the rule texts will do). While it stays the
    // same, folders that did not change are not listed again. Empty: they are, each time. Ignore
    // files in the tree need not be part of it.
    std::string fingerprint;
};

struct Progress {
    std::uint64_t files = 0;  // seen so far
    std::uint64_t bytes = 0;  // read so far
};

struct SnapshotOptions {
    os::Path directory;
    // Where the stat cache of this folder is kept; empty: everything is read.
    os::Path cache_file;
    IgnorePolicy ignore;
    enum class Git { skip, record } git = Git::record;
    // digests_only: the manifest is stored, and nothing of what it names.
    enum class Contents { stored, digests_only } contents = Contents::stored;
    // How long to wait for `git` when only it can tell whether something is staged.
    std::chrono::milliseconds git_patience{250};
    std::function<void(const Progress&)> on_progress;  // at most every 50 ms, from any thread
    std::stop_token stop;
    unsigned threads = 0;  // 0: as many as there are processors, at most 8
    // Attempts at a file that changes while it is read.
    unsigned attempts = 4;
    std::chrono::milliseconds retry_pause{25};
};

struct SnapshotReport {
    Digest id;
    Lease lease;  // keep until `id` is recorded
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::uint64_t files_read = 0;  // the rest was known from the stat cache
    std::uint64_t bytes_read = 0;
    std::uint64_t objects_added = 0;
    LeftOut left_out;
    std::vector<std::string> notices;  // sentences for the user: skipped sockets, links outside…
    std::optional<config::GitInfo> git;  // nullopt when the folder is in no repository
};

// Stores the folder's present contents. When it returns, the manifest and all it names are durable.
// A file that cannot be read, or goes on changing, fails the whole snapshot by name; nothing is
// published half. Runs on the calling thread and, for large trees, on helpers that end with it.
Result<SnapshotReport> take_snapshot(const ObjectStore& store, const SnapshotOptions& options);

// Stores a tree that nobody changes any more, a finished run's outputs. Files become objects by
// hard link (and read-only) where store and tree share a file system, else by reflink or copy.
Result<SnapshotReport> store_tree(const ObjectStore& store,
                                  const os::Path& directory,
                                  const SnapshotOptions& options = {});

}  // namespace ponk::snapshot
