// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/keyed_hash.hpp"
#include "base/synced.hpp"
#include "os/unnamed_file.hpp"
#include "snapshot/object_format.hpp"
#include "snapshot/object_store.hpp"

#include <atomic>
#include <bitset>
#include <string_view>
#include <vector>

namespace ponk::snapshot {

// Stores many objects for one snapshot and makes them durable in batches: one batch is written, the
// kernel starts flushing all of it, then each file is flushed, and only then gets its name. Shared
// by the threads of the snapshot; each has its own Stage.
class ObjectWriter {
public:
    explicit ObjectWriter(const ObjectStore& store);

    class Stage {
    public:
        explicit Stage(ObjectWriter& writer) : writer_(writer) {}
        // Writes the object; it has its name after the next flush.
        Result<> add(const Digest& digest, std::string_view content);
        // A file made by `create_file` that already holds the content.
        Result<> add_file(const Digest& digest, os::UnnamedFile file, std::uint64_t size);
        Result<os::UnnamedFile> create_file();
        Result<> flush();

    private:
        friend class ObjectWriter;
        struct Staged {
            os::UnnamedFile file;
            Digest digest;
        };
        ObjectWriter& writer_;
        std::vector<Staged> staged_;
        std::uint64_t bytes_ = 0;
        ObjectEncoder encoder_;
    };

    // True when the caller shall store this object: it is not there, and nobody else asked before.
    Result<bool> claim(const Digest& digest);
    // Publishes an existing file as the object by hard link; false where that is not possible.
    Result<bool> link_existing(const Digest& digest, int fd);
    // Makes all names durable. Every stage has been flushed.
    Result<> sync_names();
    [[nodiscard]] std::uint64_t added() const noexcept { return added_.load(); }

private:
    Result<> publish(os::UnnamedFile& file, const Digest& digest);
    Result<> make_fan_out(const Digest& digest);
    void touch(const Digest& digest) { touched_.lock()->set(digest.bytes[0]); }

    const ObjectStore& store_;
    std::size_t batch_files_;
    Synced<KeyedSet<>> claimed_;
    Synced<std::bitset<256>> touched_;  // fan-out folders to flush
    std::atomic<bool> made_folder_{false};
    std::atomic<std::uint64_t> added_{0};
    std::int64_t young_since_ns_;
};

}  // namespace ponk::snapshot
