// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/git/git_info.hpp"
#include "os/tree.hpp"
#include "snapshot/manifest.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace ponk::snapshot {

// A file of the snapshot, for the comparison with git's index.
struct TreeFile {
    std::string path;  // relative to the project
    EntryKind kind = EntryKind::file;
    os::FileStatus status;
};

// Finds out what git knows about a project while its snapshot is taken. Commit, branch and remote
// are read at once. Whether tracked files differ from the index follows from the scan's own lstat
// results; whether the index differs from the commit only `git` can tell, so it is asked in the
// background, and the answer is remembered under commit and index checksum. An unchanged tree with
// an unchanged index and commit needs neither.
class GitProbe {
public:
    // Null when the folder is in no repository. `memo` is what `memo()` gave the last time.
    static std::unique_ptr<GitProbe>
    start(const os::Path& directory, const std::string& memo, std::stop_token stop);

    // After the scan. `unchanged`: the tree is the one the memo was made with; else `files` is
    // called for all regular files and links, in order of path.
    config::GitInfo finish(bool unchanged,
                           const std::function<std::vector<TreeFile>()>& files,
                           std::chrono::milliseconds patience);
    [[nodiscard]] std::string memo() const;

private:
    // One line: commit, index version, index checksum, staged, dirty.
    struct Memo {
        std::string commit;
        std::string index;     // its lstat facts
        std::string checksum;  // its last bytes
        std::optional<bool> staged;
        std::optional<bool> dirty;  // set only when the tree alone decides it
    };
    struct Answer;

    GitProbe(os::Path directory, config::GitPlace place)
        : directory_(std::move(directory)), place_(std::move(place))
    {
    }
    void read_index();
    void ask_git(std::stop_token stop);
    std::optional<bool> files_differ(const std::vector<TreeFile>& files);

    os::Path directory_;
    config::GitPlace place_;
    config::GitInfo info_;
    std::size_t hash_size_ = 20;
    Memo old_;
    Memo new_;
    std::int64_t index_mtime_ns_ = 0;
    bool index_is_stable_ = false;
    bool hidden_files_ = false;  // tracked files that the snapshot leaves out
    std::shared_ptr<Answer> answer_;
    std::jthread asking_;
};

}  // namespace ponk::snapshot
