// SPDX-License-Identifier: Apache-2.0
#include "snapshot/object_writer.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "os/tree.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::snapshot {

namespace {

// Measured on ext4: larger batches save nothing, and the descriptors of all threads stay few.
constexpr std::size_t most_batch_files = 64;
constexpr std::uint64_t batch_bytes = std::uint64_t{64} << 20;
// A name younger than this may come from a writer that died before flushing its folder.
constexpr std::int64_t young_ms = 10 * 60 * 1000;
constexpr mode_t object_mode = 0444;

// All batches together, eight at most, use half of the descriptors we may have.
std::size_t affordable_batch()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
    return std::clamp<std::size_t>(limit.rlim_cur / 16, 1, most_batch_files);
}

}  // namespace

ObjectWriter::ObjectWriter(const ObjectStore& store)
    : store_(store), batch_files_(affordable_batch()),
      young_since_ns_((wall_milliseconds() - young_ms) * 1'000'000)
{
}

Result<bool> ObjectWriter::claim(const Digest& digest)
{
    const std::string key(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
    if (!claimed_.lock()->insert(key).second) return false;
    os::FileStatus status;
    const int missing = os::status_at(store_.objects_fd(), object_name(digest).c_str(), status);
    if (missing == 0 && status.is_file()) {
        if (status.ctime_ns > young_since_ns_) touch(digest);
        return false;
    }
    if (missing != 0 && missing != ENOENT)
        return fail_errno(missing, "look for object '{}'", digest.text());
    if (TRY(store_.contains(digest))) {  // back from the trash
        touch(digest);
        return false;
    }
    return true;
}

Result<os::UnnamedFile> ObjectWriter::Stage::create_file()
{
    auto& store = writer_.store_;
    auto file = os::UnnamedFile::create(store.objects_fd(), object_mode, store.way());
    if (file || staged_.empty()) return file;
    TRY(flush());  // perhaps our own batch holds too many descriptors
    return os::UnnamedFile::create(store.objects_fd(), object_mode, store.way());
}

Result<> ObjectWriter::Stage::add(const Digest& digest, std::string_view content)
{
    auto file = TRY(create_file());
    const auto bytes = TRY(encoder_.encode(content));
    TRY(os::write_all(file.fd(), bytes));
    return add_file(digest, std::move(file), bytes.size());
}

Result<>
ObjectWriter::Stage::add_file(const Digest& digest, os::UnnamedFile file, std::uint64_t size)
{
    file.start_sync();
    staged_.push_back({std::move(file), digest});
    bytes_ += size;
    return staged_.size() >= writer_.batch_files_ || bytes_ >= batch_bytes ? flush() : Result<>{};
}

Result<> ObjectWriter::Stage::flush()
{
    for (const auto& item : staged_)
        TRY(item.file.sync());
    for (auto& item : staged_)
        TRY(writer_.publish(item.file, item.digest));
    staged_.clear();
    bytes_ = 0;
    return {};
}

Result<> ObjectWriter::make_fan_out(const Digest& digest)
{
    const auto name = object_name(digest).substr(0, 2);
    if (::mkdirat(store_.objects_fd(), name.c_str(), 0700) != 0 && errno != EEXIST)
        return fail_errno(errno, "make folder '{}' in the object store", name);
    made_folder_ = true;
    return {};
}

Result<> ObjectWriter::publish(os::UnnamedFile& file, const Digest& digest)
{
    const auto name = object_name(digest);
    auto outcome = file.link_as(name);
    if (!outcome && outcome.error().kind() == ErrorKind::not_found) {
        TRY(make_fan_out(digest));
        outcome = file.link_as(name);
    }
    if (TRY(outcome) == os::UnnamedFile::Outcome::created) ++added_;
    touch(digest);
    return {};
}

Result<bool> ObjectWriter::link_existing(const Digest& digest, int fd)
{
    const auto name = object_name(digest);
    const auto self = "/proc/self/fd/" + std::to_string(fd);
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (::linkat(
                AT_FDCWD, self.c_str(), store_.objects_fd(), name.c_str(), AT_SYMLINK_FOLLOW) ==
            0) {
            ++added_;
            touch(digest);
            return true;
        }
        if (errno == EEXIST) {
            touch(digest);
            return true;
        }
        if (errno != ENOENT) return false;
        TRY(make_fan_out(digest));
    }
    return false;
}

Result<> ObjectWriter::sync_names()
{
    const auto touched = *touched_.lock();
    for (std::size_t i = 0; i < touched.size(); ++i) {
        if (!touched.test(i)) continue;
        const char byte = static_cast<char>(i);
        const auto name = to_hex({&byte, 1});
        const os::Fd folder(::openat(
            store_.objects_fd(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!folder || ::fsync(folder.get()) != 0)
            return fail_errno(errno, "flush folder '{}' of the object store", name);
    }
    if (made_folder_.load() && ::fsync(store_.objects_fd()) != 0)
        return fail_errno(errno, "flush the object store");
    return {};
}

}  // namespace ponk::snapshot
