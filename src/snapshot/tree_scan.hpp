// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/keyed_hash.hpp"
#include "base/synced.hpp"
#include "os/tree.hpp"
#include "snapshot/file_storer.hpp"
#include "snapshot/manifest.hpp"
#include "snapshot/stat_cache.hpp"
#include "snapshot/take_snapshot.hpp"
#include "snapshot/work_pool.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ponk::snapshot {

// One folder as found. Written by one thread at a time, read after the scan.
struct ScannedFolder {
    std::string path;  // relative, "" for the root
    std::uint32_t parent = 0;
    os::FileStatus status;  // from before its names were read
    // Everything in it is as the cache says, `cached` being its index there; `files` stays empty.
    bool unchanged = false;
    std::uint32_t cached = 0;
    std::string names;                 // what the files' names point into
    std::vector<ScannedFile> files;    // in manifest order
    std::atomic<bool> reusable{true};  // the list of names holds all there is
    bool gone = false;                 // removed before it could be read, or left out after all
    LeftOutNames left_out;
    config::TravelRules::Signs signs;
};

// As it is cached: equal texts, equal signs. Empty: there are none.
std::string signs_text(const config::TravelRules::Signs& signs);

// What of a stat cache may be believed.
enum class CacheTrust {
    digests,  // the digests of unchanged files; whether they are still stored must be asked
    objects,  // that they are stored, too
    full      // and the lists of names of unchanged folders: the ignore rules are the same
};

// Finds out what a tree holds and stores the contents that are not in the store yet. Work is spread
// over a pool: a task is a folder, a part of a large folder, or a chunk of a large file.
class TreeScan {
public:
    // `cache` may be null.
    TreeScan(const ObjectStore& store,
             ObjectWriter& writer,
             const SnapshotOptions& options,
             FileStorer::Source source,
             const StatCache* cache,
             CacheTrust trust);

    // On return everything found is staged, most of it published.
    Result<> run(int root);
    // Flushes what is staged. After it all objects have their names.
    Result<> flush();
    [[nodiscard]] ObjectWriter::Stage& stage() { return storers_.front()->stage(); }

    [[nodiscard]] const ScannedFolder& root() const { return folders_.front(); }
    [[nodiscard]] const ScannedFolder& folder(std::uint32_t index) const { return folders_[index]; }
    // Folder of a cached folder that was seen, by its index in the cache.
    [[nodiscard]] std::uint32_t seen_as(std::uint32_t cached) const { return seen_as_[cached]; }
    [[nodiscard]] bool all_unchanged() const;
    [[nodiscard]] std::vector<std::string> notices();
    // Of all folders.
    [[nodiscard]] LeftOut left_out() const;
    [[nodiscard]] std::uint64_t files_read() const { return files_read_.load(); }
    [[nodiscard]] std::uint64_t bytes_read() const { return counters_.bytes.load(); }

private:
    struct OpenFolder;
    static constexpr std::uint32_t none = 0xffffffff;
    // Of a path below the root; with room for what stands before it when the tree is made
    // somewhere, no system call takes more.
    static constexpr std::size_t longest_path = 3584;

    std::uint32_t add_folder(std::string path, std::uint32_t cached, std::uint32_t parent = 0);
    Result<bool> leave_out(ScannedFolder& folder);
    ScannedFolder& folder_at(std::uint32_t index);
    void add_child(std::uint32_t parent, ScannedFile& file, bool names_known);
    void add_visit(std::uint32_t index, std::uint32_t cached, bool names_known);
    Result<> visit(std::size_t worker, std::uint32_t index, std::uint32_t cached, bool names_known);
    bool visit_unchanged(int fd, std::uint32_t index, const CachedFolder& known);
    Result<> list(std::size_t worker, int fd, ScannedFolder& folder);
    void match_with_cache(ScannedFolder& folder, const CachedFolder& known);
    Result<> examine(std::size_t worker,
                     const std::shared_ptr<OpenFolder>& open,
                     std::size_t begin,
                     std::size_t end);
    Result<> examine_one(std::size_t worker, OpenFolder& open, ScannedFile& file);
    Result<> read_link(OpenFolder& open, ScannedFile& file, const std::string& path);
    Result<bool> reuse(ScannedFile& file);
    static void skip(OpenFolder& open, ScannedFile& file);
    void note(std::string notice);
    void note_secrets(const std::string& path);
    [[nodiscard]] std::vector<std::string> tracked_secrets();
    void note_link(const std::string& path, std::string_view target);

    const ObjectStore& store_;
    const SnapshotOptions& options_;
    const StatCache* cache_;
    CacheTrust trust_;
    int root_ = -1;
    WorkPool pool_;
    std::deque<ScannedFolder> folders_;  // grows under mutex_; elements stay where they are
    std::vector<std::uint32_t> seen_as_;
    std::mutex mutex_;
    Counters counters_;
    std::atomic<std::uint64_t> files_read_{0};
    struct LongPaths {
        std::size_t count = 0;
        std::string first;  // its beginning
    };
    void leave_out_long(const std::string& path);
    Synced<LongPaths> long_paths_;
    Synced<std::vector<std::string>> notices_;
    Synced<std::set<std::string>> secrets_;  // paths of files that travel, by their names
    Synced<KeyedMap<std::string>> links_;    // path, target
    std::vector<os::NameList> name_lists_;   // one per worker, like the storers
    std::vector<std::unique_ptr<FileStorer>> storers_;
};

}  // namespace ponk::snapshot
