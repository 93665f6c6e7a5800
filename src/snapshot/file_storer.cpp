// SPDX-License-Identifier: Apache-2.0
#include "snapshot/file_storer.hpp"

#include "base/text.hpp"
#include "os/file.hpp"
#include "os/wait.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::snapshot {

namespace {

constexpr int read_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

tl::unexpected<Error> cannot_read(int errno_value, const std::string& path)
{
    auto error = system_error(errno_value, "read '" + printable(path) + "'");
    if (errno_value == EACCES || errno_value == EPERM || errno_value == EIO)
        error = error.with_hint("Make it readable, or list it in .amlignore to leave it out.");
    return tl::unexpected(std::move(error));
}

tl::unexpected<Error> still_changing(const std::string& path)
{
    return tl::unexpected(
        Error(ErrorKind::conflict,
              "'" + printable(path) + "' changes while it is being read",
              "Wait until the program that writes it is done, or list it in .amlignore."));
}

// A file that is mostly hole: chunks that are holes cost nothing, hashing it as a whole would cost
// as much as if it were full.
constexpr std::uint64_t largest_sparse = std::uint64_t{1} << 40;

bool is_sparse(int fd)
{
    struct stat info {};
    return ::fstat(fd, &info) == 0 && static_cast<std::uint64_t>(info.st_size) > chunked_above &&
           info.st_blocks < info.st_size / 512 / 2;
}

// Reads `size` bytes and looks for one more; false when the file is shorter or longer.
Result<bool> read_exactly(int fd, char* buffer, std::size_t size)
{
    std::size_t filled = 0;
    while (filled <= size) {
        const auto got =
            ::pread(fd, buffer + filled, size + 1 - filled, static_cast<off_t>(filled));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "read");
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
        // A regular file is read in full unless it ends: no need to ask again.
        if (filled == size) break;
    }
    return filled == size;
}

}  // namespace

void Counters::show(const SnapshotOptions& options)
{
    if (!options.on_progress) return;
    const std::unique_lock lock(mutex, std::try_to_lock);
    const auto now = std::chrono::steady_clock::now();
    if (!lock || now - shown < std::chrono::milliseconds(50)) return;
    shown = now;
    options.on_progress({files.load(), bytes.load()});
}

FileStorer::FileStorer(const ObjectStore& store,
                       ObjectWriter& writer,
                       const SnapshotOptions& options,
                       Source source,
                       Counters& counters)
    : store_(store), writer_(writer), options_(options), source_(source), counters_(counters),
      stage_(writer)
{
    os::FileStatus status;
    if (os::status_of(store_.objects_fd(), status) == 0) store_device_ = status.device;
}

Digest FileStorer::digest_of(std::string_view bytes)
{
    hash_.update(bytes);
    return hash_.finish();
}

// True when this storer shall store the object.
Result<bool> FileStorer::is_wanted(const Digest& digest)
{
    if (options_.contents == SnapshotOptions::Contents::digests_only) return false;
    return writer_.claim(digest);
}

char* FileStorer::buffer(std::size_t size)
{
    if (buffer_.size() < size) buffer_.resize(std::max(size, std::size_t{128} << 10));
    return buffer_.data();
}

Result<> FileStorer::pause_before_retry(unsigned attempt, const std::string& path) const
{
    if (attempt >= options_.attempts) return still_changing(path);
    if (!os::sleep_for(options_.retry_pause * attempt, options_.stop))
        return fail(ErrorKind::cancelled, "stopped");
    return {};
}

// One attempt; false when the file changed meanwhile.
Result<bool> FileStorer::try_store(int fd, const os::FileStatus& before, ScannedFile& file)
{
    char* const content = buffer(before.size + 1);
    if (!TRY(read_exactly(fd, content, before.size))) return false;
    const std::string_view bytes(content, before.size);
    file.digest = digest_of(bytes);
    os::FileStatus after_reading;
    if (const int failed = os::status_of(fd, after_reading); failed != 0)
        return fail_errno(failed, "look again");
    if (!after_reading.same_version(before)) return false;
    if (TRY(is_wanted(file.digest))) TRY(stage_.add(file.digest, bytes));
    counters_.bytes += before.size;
    return true;
}

// A finished file becomes the object itself, read-only. False where that cannot be.
Result<bool> FileStorer::try_link(int fd, const std::string& path, ScannedFile& file)
{
    os::FileStatus before;
    if (os::status_of(fd, before) != 0 || before.device != store_device_ || before.size == 0 ||
        before.owner != ::geteuid() || before.links != 1 || !os::has_no_writer(fd))
        return false;
    if (::fchmod(fd, before.mode & 0555U) != 0 || os::status_of(fd, before) != 0) return false;
    std::uint64_t offset = 0;
    char* const piece = buffer(chunk_size);
    bool plain = true;
    for (;;) {
        const auto got = ::pread(fd, piece, chunk_size, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(errno, path);
        if (got == 0) break;
        const std::string_view bytes(piece, static_cast<std::size_t>(got));
        if (offset == 0) plain = !is_compressed(bytes);
        hash_.update(bytes);
        offset += bytes.size();
        counters_.bytes += bytes.size();
        counters_.show(options_);
        if (options_.stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
    }
    const auto digest = hash_.finish();
    os::FileStatus after_reading;
    if (!plain || offset != before.size || os::status_of(fd, after_reading) != 0 ||
        !after_reading.same_version(before) || !os::has_no_writer(fd))
        return false;
    if (!TRY(store_.contains(digest))) {
        if (::fsync(fd) != 0) return fail_errno(errno, "flush '{}'", printable(path));
        if (!TRY(writer_.link_existing(digest, fd))) return false;
    } else {
        static_cast<void>(TRY(writer_.claim(digest)));  // have its name flushed when young
    }
    file.digest = digest;
    file.status = before;
    return true;
}

// A name alone makes such a file as large as the file system allows, and its list of chunks with
// it.
Result<std::optional<FileStorer::Outcome>>
FileStorer::judge_sparse(int fd, const os::FileStatus& status, const std::string& path) const
{
    if (!is_sparse(fd)) return std::nullopt;
    if (status.size <= largest_sparse) return Outcome::later;
    if (source_ == Source::finished) return Outcome::too_sparse;
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("'{}' has {}, nearly all of it never written: more than a snapshot takes",
                          printable(path),
                          byte_size_text(status.size)),
              "List it in .amlignore to leave it out."));
}

Result<FileStorer::Outcome>
FileStorer::store(int folder, const std::string& path, ScannedFile& file)
{
    for (unsigned attempt = 1;; ++attempt) {
        const os::Fd fd(::openat(folder, file.name.data(), read_flags));
        if (!fd) {
            if (errno == ENOENT) return Outcome::gone;
            if (errno != ELOOP && errno != ENXIO) return cannot_read(errno, path);
            TRY(pause_before_retry(attempt, path));  // became a link or socket just now
            continue;
        }
        os::FileStatus before;
        if (const int failed = os::status_of(fd.get(), before); failed != 0)
            return cannot_read(failed, path);
        if (before.is_file()) {
            if (const auto early = TRY(judge_sparse(fd.get(), before, path))) return *early;
            file.kind = before.is_executable() ? EntryKind::executable : EntryKind::file;
            if (source_ == Source::finished && TRY(try_link(fd.get(), path, file)))
                return Outcome::stored;
            if (before.size > chunked_above) return Outcome::later;
            auto stored = try_store(fd.get(), before, file);
            if (!stored) {
                return tl::unexpected(stored.error().within("store '" + printable(path) + "'"));
            }
            if (*stored) {
                file.status = before;
                return Outcome::stored;
            }
        }
        TRY(pause_before_retry(attempt, path));
    }
}

// A file in the making, shared by the tasks of its chunks.
struct FileStorer::LargeFile {
    os::Fd fd;
    std::string path;
    os::FileStatus before;
    ScannedFile* file = nullptr;
    unsigned attempt = 1;
    std::atomic<std::size_t> left{0};
};

void FileStorer::add_chunks(WorkPool& pool,
                            std::vector<std::unique_ptr<FileStorer>>& storers,
                            const std::shared_ptr<LargeFile>& large)
{
    const auto count = (large->before.size + chunk_size - 1) / chunk_size;
    large->file->chunks.assign(count, {});
    large->left = count;
    // The youngest task goes first: added backwards, the file is read forwards.
    for (auto index = count; index-- > 0;) {
        pool.add([&pool, &storers, large, index](std::size_t worker) -> Result<> {
            TRY(storers[worker]
                    ->store_chunk(*large, index)
                    .map_error(while_doing("store '{}'", printable(large->path))));
            if (--large->left == 0) return finish_large(pool, storers, large);
            return {};
        });
    }
}

Result<> FileStorer::store_large(WorkPool& pool,
                                 std::vector<std::unique_ptr<FileStorer>>& storers,
                                 int folder,
                                 const std::string& path,
                                 ScannedFile& file)
{
    auto large = std::make_shared<LargeFile>();
    large->fd.reset(::openat(folder, file.name.data(), read_flags));
    if (!large->fd) return cannot_read(errno, path);
    large->path = path;
    large->file = &file;
    if (const int failed = os::status_of(large->fd.get(), large->before); failed != 0)
        return cannot_read(failed, path);
    if (!large->before.is_file() || large->before.size == 0) return still_changing(path);
    ::posix_fadvise(large->fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    add_chunks(pool, storers, large);
    return {};
}

Result<> FileStorer::finish_large(WorkPool& pool,
                                  std::vector<std::unique_ptr<FileStorer>>& storers,
                                  const std::shared_ptr<LargeFile>& large)
{
    os::FileStatus after_reading;
    if (const int failed = os::status_of(large->fd.get(), after_reading); failed != 0)
        return cannot_read(failed, large->path);
    if (after_reading.same_version(large->before)) {
        large->file->status = large->before;
        large->file->kind = large->before.is_executable() ? EntryKind::executable : EntryKind::file;
        return {};
    }
    TRY(storers.front()->pause_before_retry(large->attempt++, large->path));
    if (const int failed = os::status_of(large->fd.get(), large->before); failed != 0)
        return cannot_read(failed, large->path);
    if (large->before.size == 0) return still_changing(large->path);
    add_chunks(pool, storers, large);
    return {};
}

// Takes a private copy of the blocks first and hashes that: what is hashed is what is kept.
Result<bool> FileStorer::share_chunk(LargeFile& large, std::uint64_t offset, Chunk& chunk)
{
    if (!sharing_ || large.before.device != store_device_ ||
        options_.contents == SnapshotOptions::Contents::digests_only)
        return false;
    auto file = TRY(stage_.create_file());
    if (!os::share_range(large.fd.get(), offset, chunk.size, file.fd(), 0)) {
        sharing_ = errno == EINTR;
        return false;
    }
    char* const content = buffer(chunk.size + 1);
    if (!TRY(read_exactly(file.fd(), content, chunk.size))) return false;
    const std::string_view bytes(content, chunk.size);
    if (is_compressed(bytes)) return false;
    chunk.digest = digest_of(bytes);
    if (TRY(writer_.claim(chunk.digest)))
        TRY(stage_.add_file(chunk.digest, std::move(file), chunk.size));
    return true;
}

Result<> FileStorer::store_chunk(LargeFile& large, std::size_t index)
{
    const auto offset = index * chunk_size;
    auto& chunk = large.file->chunks[index];
    chunk.size = std::min(chunk_size, large.before.size - offset);
    counters_.show(options_);
    char* const content = buffer(chunk_size + 1);
    if (os::is_hole(large.fd.get(), offset, chunk.size)) {
        static const Digest whole_chunk_of_zeros =
            sha256(std::string(static_cast<std::size_t>(chunk_size), '\0'));
        const bool is_whole = chunk.size == chunk_size;
        if (!is_whole) std::memset(content, 0, chunk.size);
        chunk.digest = is_whole ? whole_chunk_of_zeros : digest_of({content, chunk.size});
        // Most files that have one hole have many: zeros are made where they are stored.
        if (!TRY(is_wanted(chunk.digest))) return {};
        if (is_whole) std::memset(content, 0, chunk.size);
        return stage_.add(chunk.digest, {content, chunk.size});
    }
    counters_.bytes += chunk.size;
    if (TRY(share_chunk(large, offset, chunk))) return {};
    std::size_t filled = 0;
    while (filled < chunk.size) {
        const auto got = ::pread(large.fd.get(),
                                 content + filled,
                                 chunk.size - filled,
                                 static_cast<off_t>(offset + filled));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "read");
        if (got == 0) {  // shorter now: the look at the end will tell
            std::memset(content + filled, 0, chunk.size - filled);
            break;
        }
        filled += static_cast<std::size_t>(got);
    }
    chunk.digest = digest_of({content, chunk.size});
    if (TRY(is_wanted(chunk.digest))) TRY(stage_.add(chunk.digest, {content, chunk.size}));
    return {};
}

}  // namespace ponk::snapshot
