// SPDX-License-Identifier: Apache-2.0
// The ends of a transfer: batches out of a store and into it.
#include "os/file_lock.hpp"
#include "os/tree.hpp"
#include "snapshot/object_format.hpp"
#include "snapshot/object_writer.hpp"
#include "snapshot/transfer.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::snapshot {

namespace {

// A whole object's file as it travelled: does it hold what its name says?
bool is_sound(std::string_view file, const Digest& digest)
{
    if (!is_compressed(file)) return sha256(file) == digest;
    ContentCheck check;
    check.take(file);
    return check.holds(digest);
}

tl::unexpected<Error> not_itself(const Digest& digest)
{
    return fail(ErrorKind::damaged, "object '{}' arrived with other bytes", digest.text());
}

os::Path incoming_path(const ObjectStore& store, const Digest& digest)
{
    return store.root() / "incoming" / digest.text();
}

// The parts of one large object, which gets its name when it is whole and sound.
class LargeObject {
public:
    LargeObject(const ObjectStore& store, const Digest& digest)
        : store_(store), digest_(digest), path_(incoming_path(store, digest))
    {
    }

    Result<> add(const ObjectPart& part, std::string_view bytes)
    {
        TRY(os::make_directories(path_.parent_path()));
        // Two connections may bring the same object: one after the other.
        const auto lock = TRY(os::FileLock::take(
            path_, os::FileLock::Kind::exclusive, after(std::chrono::seconds(60)), {}));
        os::FileStatus status;
        if (const int failed = os::status_of(lock.fd(), status); failed != 0)
            return fail_errno(failed, "look at {}", os::in_quotes(path_));
        if (status.links == 0) return {};  // whole by now
        if (part.offset > status.size)
            return fail(ErrorKind::conflict,
                        "object '{}' has {} bytes here, a part from {} cannot follow",
                        digest_.text(),
                        status.size,
                        part.offset);
        if (::ftruncate(lock.fd(), static_cast<off_t>(part.offset)) != 0 ||
            ::lseek(lock.fd(), 0, SEEK_END) < 0)
            return fail_errno(errno, "write {}", os::in_quotes(path_));
        TRY(os::write_all(lock.fd(), bytes));
        return part.offset + part.size == part.total ? finish(lock.fd()) : Result<>();
    }

private:
    Result<> finish(int fd)
    {
        ContentCheck check;
        for (std::uint64_t at = 0;;) {
            const auto piece = TRY(os::read_at(fd, at, std::size_t{1} << 20));
            if (piece.empty()) break;
            check.take(piece);
            at += piece.size();
        }
        if (!check.holds(digest_)) {
            ::unlink(path_.c_str());
            return not_itself(digest_);
        }
        ::fchmod(fd, 0444);
        if (::fsync(fd) != 0) return fail_errno(errno, "flush {}", os::in_quotes(path_));
        ObjectWriter writer(store_);
        if (!TRY(writer.link_existing(digest_, fd)))
            return fail(ErrorKind::unavailable, "object '{}' cannot get its name", digest_.text());
        TRY(writer.sync_names());
        ::unlink(path_.c_str());
        return {};
    }

    const ObjectStore& store_;
    const Digest& digest_;
    os::Path path_;
};

Result<> check_part(const ObjectPart& part, std::size_t left)
{
    if (part.size <= left && part.size <= longest_part && part.offset <= part.total &&
        part.size <= part.total - part.offset && (part.size > 0 || part.total == 0))
        return {};
    return fail(ErrorKind::damaged, "a part of object '{}' has no sense", part.digest.text());
}

}  // namespace

Result<> receive_batch(const ObjectStore& store, const ObjectBatch& batch)
{
    ObjectWriter writer(store);
    ObjectWriter::Stage stage(writer);
    std::string_view rest = batch.bytes;
    for (const auto& part : batch.parts) {
        TRY(check_part(part, rest.size()));
        const auto bytes = rest.substr(0, part.size);
        rest.remove_prefix(part.size);
        if (part.size != part.total) {
            if (!TRY(store.contains(part.digest)))
                TRY(LargeObject(store, part.digest).add(part, bytes));
            continue;
        }
        if (!is_sound(bytes, part.digest)) return not_itself(part.digest);
        if (!TRY(writer.claim(part.digest))) continue;
        auto file = TRY(stage.create_file());
        TRY(os::write_all(file.fd(), bytes));
        TRY(stage.add_file(part.digest, std::move(file), bytes.size()));
    }
    TRY(stage.flush());
    return writer.sync_names();
}

Result<ObjectBatch> read_batch(const ObjectStore& store, const std::vector<ObjectPart>& from)
{
    ObjectBatch batch;
    for (const auto& wanted : from) {
        if (!batch.parts.empty() && batch.bytes.size() >= batch_size) break;
        const auto file = TRY(store.open_object(wanted.digest));
        os::FileStatus status;
        if (const int failed = os::status_of(file.get(), status); failed != 0)
            return fail_errno(failed, "look at object '{}'", wanted.digest.text());
        if (wanted.offset > status.size)
            return fail(ErrorKind::damaged,
                        "object '{}' has {} bytes, asked for those from {}",
                        wanted.digest.text(),
                        status.size,
                        wanted.offset);
        const auto size = std::min<std::uint64_t>(longest_part, status.size - wanted.offset);
        // The next call brings it: a batch with a large one behind many small ones has an end.
        if (!batch.parts.empty() && batch.bytes.size() + size > longest_part) break;
        const auto bytes = TRY(os::read_at(file.get(), wanted.offset, size));
        if (bytes.size() != size)
            return fail(ErrorKind::damaged, "object '{}' became shorter", wanted.digest.text());
        batch.bytes += bytes;
        batch.parts.push_back({wanted.digest, wanted.offset, size, status.size});
    }
    return batch;
}

std::uint64_t received_so_far(const ObjectStore& store, const Digest& digest)
{
    struct stat info {};
    return ::stat(incoming_path(store, digest).c_str(), &info) == 0
               ? static_cast<std::uint64_t>(info.st_size)
               : 0;
}

}  // namespace ponk::snapshot
