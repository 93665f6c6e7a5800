// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/synced.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"
#include "os/tree.hpp"
#include "os/unnamed_file.hpp"
#include "snapshot/manifest.hpp"
#include "snapshot/recent_contents.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::snapshot {

// A file with more bytes than this is stored in chunks of chunk_size, cut at multiples of it: they
// can share blocks with the source where the file system knows how, and any of them can be read,
// hashed and written by another thread.
inline constexpr std::uint64_t chunked_above = std::uint64_t{8} << 20;
inline constexpr std::uint64_t chunk_size = std::uint64_t{4} << 20;

struct StoreOptions {
    os::UnnamedFile::Way way = os::UnnamedFile::Way::unnamed;
};

// Content-addressed objects below one folder (layout: docs/design/snapshot.md). An object is
// complete and durable from the moment its name is there, and never changes. Safe to use from any
// number of threads and processes at once.
class ObjectStore {
public:
    // Makes the folders when absent.
    static Result<ObjectStore> open(const os::Path& root, StoreOptions options = {});

    [[nodiscard]] const os::Path& root() const noexcept { return root_; }

    // True when the object is there, or was in the trash and is back.
    Result<bool> contains(const Digest& digest) const;
    // The whole content, verified. `not_found` when absent; a damaged object is put in quarantine
    // and answered with `damaged`, as is one that lies there already. `limit` bounds memory.
    Result<std::string> read(const Digest& digest,
                             std::uint64_t limit = std::uint64_t{1} << 30) const;
    // Like read, into a buffer of the exact size known from a manifest.
    Result<> read_into(const Digest& digest, char* buffer, std::size_t size) const;
    // Up to `length` bytes from `offset`, verified. Whoever comes for one part after the other pays
    // for the object about once, not for each part.
    Result<std::string>
    read_range(const Digest& digest, std::uint64_t offset, std::size_t length) const;
    // Calls `sink` with the content piece by piece; bytes come before the verdict, which is the
    // result. For objects of any size.
    Result<> stream(const Digest& digest,
                    const std::function<Result<>(std::string_view)>& sink) const;

    // Stores one object, durably. For several use ObjectWriter.
    Result<Digest> put(std::string_view content) const;
    Result<Manifest> read_manifest(const Digest& id) const;
    // The same for whoever asks again and again: the ones used last are kept as long as their
    // objects are as they were.
    Result<std::shared_ptr<const Manifest>> shared_manifest(const Digest& id) const;

    // Changes whenever an object has left the store: equal numbers mean that what was stored then
    // is stored now.
    Result<std::uint64_t> generation() const;
    // Before anything is removed: makes every stat cache look again.
    Result<> advance_generation() const;
    [[nodiscard]] const std::array<std::uint8_t, 16>& identity() const noexcept
    {
        return identity_;
    }

    // Moves a damaged object aside, for a person to look at. `file` is the one that was read.
    Result<> quarantine(const Digest& digest, int file) const;

    // For the parts of this module.
    [[nodiscard]] int objects_fd() const noexcept { return objects_.get(); }
    [[nodiscard]] os::UnnamedFile::Way way() const noexcept { return options_.way; }
    Result<os::Fd> open_object(const Digest& digest) const;

private:
    struct KeptManifest {
        Digest id;
        os::FileStatus object;
        std::shared_ptr<const Manifest> manifest;
    };
    using KeptManifests = Synced<std::vector<KeptManifest>>;  // the one used last at the end

    ObjectStore(os::Path root, os::Fd objects, StoreOptions options)
        : root_(std::move(root)), objects_(std::move(objects)), options_(options),
          recent_(std::make_unique<RecentContents>()), kept_(std::make_unique<KeptManifests>())
    {
    }
    Result<> load_identity();
    Result<bool> restore_from_trash(const Digest& digest) const;
    Result<> set_aside(const Digest& digest) const;
    Result<bool> is_in_quarantine(const Digest& digest) const;
    tl::unexpected<Error> damaged(const Digest& digest, int file, std::string_view what) const;
    Result<> verify_once(const Digest& digest, const os::FileStatus& version) const;
    Result<std::uint64_t>
    content_size(const Digest& digest, int file, std::string_view head, std::uint64_t limit) const;
    Result<> load(const Digest& digest, int file, char* buffer, std::size_t size) const;
    Result<> verify(const Digest& digest, int file, std::string_view content) const;
    Result<RecentContents::Content> expanded(const Digest& digest,
                                             int file,
                                             std::string_view head,
                                             const os::FileStatus& version) const;

    os::Path root_;
    os::Fd objects_;
    StoreOptions options_;
    std::array<std::uint8_t, 16> identity_{};
    std::unique_ptr<RecentContents> recent_;
    std::unique_ptr<KeptManifests> kept_;
};

// "ab/cdef…": where below objects/ an object lies.
std::string object_name(const Digest& digest);

}  // namespace ponk::snapshot
