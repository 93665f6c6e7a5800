// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "os/file.hpp"
#include "os/tree.hpp"
#include "snapshot/left_out.hpp"
#include "snapshot/manifest.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::snapshot {

// What the cache says about one name of a folder. Views point into the cache.
struct CachedFile {
    std::string_view name;  // NUL-terminated
    EntryKind kind = EntryKind::file;
    // The digest may be reused when lstat says the same again. False for a file that changed so
    // shortly before it was read that a later change could carry the same time.
    bool trusted = false;
    os::FileStatus status;
    Digest digest;
    std::string_view target;  // of a link
    std::uint32_t child = 0;  // of a folder: its index
    std::uint32_t first_chunk = 0;
    std::uint32_t chunk_count = 0;
};

struct CachedFolder {
    std::string_view path;
    os::FileStatus status;  // mtime, ctime, inode and device only
    // Its list of names may be reused while the folder's own times stay.
    bool trusted = false;
    std::uint32_t first_file = 0;
    std::uint32_t file_count = 0;
    LeftOutNames left_out;
    std::string signs;  // see signs_text()
};

// What holds for the whole cache.
struct CacheFacts {
    std::array<std::uint8_t, 16> store{};
    std::uint64_t generation = 0;
    Digest manifest;
    Digest ignore;  // digest of the ignore rules' fingerprint
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::string git_memo;  // see git_dirty.hpp
};

// The stat cache of one folder as it was read (docs/design/snapshot.md). Everything in it has been
// checked against the file's bounds, so hostile bytes give wrong digests at worst, and the checksum
// makes that a matter of intent. Immutable, shared by threads.
class StatCache {
public:
    // nullopt when there is none, or one that is damaged or of another version: a cache is only a
    // cache.
    static std::optional<StatCache> load(const os::Path& path);
    static std::optional<StatCache> parse(std::string bytes);

    [[nodiscard]] const CacheFacts& facts() const noexcept { return facts_; }
    [[nodiscard]] std::uint32_t folder_count() const noexcept { return folder_count_; }
    [[nodiscard]] CachedFolder folder(std::uint32_t index) const;  // 0 is the root
    [[nodiscard]] CachedFile file(std::uint32_t index) const;
    [[nodiscard]] std::vector<Chunk> chunks(const CachedFile& file) const;

private:
    StatCache() = default;
    bool check_records() const;
    [[nodiscard]] std::string_view text(std::uint64_t offset, std::uint64_t length) const;

    std::string bytes_;
    CacheFacts facts_;
    std::uint32_t folder_count_ = 0;
    std::uint32_t file_count_ = 0;
    std::uint32_t chunk_count_ = 0;
    std::size_t folders_at_ = 0;
    std::size_t files_at_ = 0;
    std::size_t chunks_at_ = 0;
    std::size_t names_at_ = 0;
    std::size_t names_size_ = 0;
};

// Collects a tree's facts and writes the file. Folders are added parents first; the files of a
// folder directly after it, in manifest order.
class StatCacheBuilder {
public:
    void add_folder(std::string_view path,
                    const os::FileStatus& status,
                    bool trusted,
                    const LeftOutNames& left_out = {},
                    std::string_view signs = {});
    void add_file(const CachedFile& file, std::span<const Chunk> chunks);
    // `child` of a folder's entry is known only when the folder itself is added.
    void set_child(std::uint32_t file, std::uint32_t folder);
    [[nodiscard]] std::uint32_t folder_count() const;
    [[nodiscard]] std::uint32_t file_count() const;
    [[nodiscard]] std::string bytes(const CacheFacts& facts);

private:
    std::string folders_;
    std::string files_;
    std::string chunks_;
    std::string names_;
};

}  // namespace ponk::snapshot
