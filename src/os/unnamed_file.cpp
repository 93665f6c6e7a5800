// SPDX-License-Identifier: Apache-2.0
#include "os/unnamed_file.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"

#include <cerrno>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ponk::os {

UnnamedFile::UnnamedFile(int folder, Fd fd, std::string temporary)
    : folder_(folder), fd_(std::move(fd)), temporary_(std::move(temporary))
{
}

UnnamedFile::UnnamedFile(UnnamedFile&& other) noexcept
    : folder_(other.folder_), fd_(std::move(other.fd_)),
      temporary_(std::exchange(other.temporary_, {}))
{
}

UnnamedFile::~UnnamedFile()
{
    if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
}

Result<UnnamedFile> UnnamedFile::create(int folder, mode_t mode, Way way)
{
    // linkat of a nameless file goes through /proc; without it names are used.
    static const bool has_proc = ::access("/proc/self/fd", X_OK) == 0;
    if (way == Way::unnamed && has_proc) {
        for (;;) {
            const int fd = ::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
            if (fd >= 0) return UnnamedFile(folder, Fd(fd), {});
            if (errno == EINTR) continue;
            if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
                return fail_errno(errno, "create a temporary file");
            break;
        }
    }
    for (;;) {
        auto name = ".tmp-" + to_hex(random_bytes(8));
        const int fd =
            ::openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode | 0200U);
        if (fd >= 0) {
            ::fchmod(fd, mode);
            return UnnamedFile(folder, Fd(fd), std::move(name));
        }
        if (errno != EEXIST && errno != EINTR) return fail_errno(errno, "create a temporary file");
    }
}

Result<UnnamedFile::Outcome> UnnamedFile::link_as(const std::string& name)
{
    int failed = 0;
    if (temporary_.empty()) {
        const auto self = "/proc/self/fd/" + std::to_string(fd_.get());
        if (::linkat(AT_FDCWD, self.c_str(), folder_, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
            failed = errno;
    } else if (::renameat2(folder_, temporary_.c_str(), folder_, name.c_str(), RENAME_NOREPLACE) ==
               0) {
        temporary_.clear();
    } else if (errno == EINVAL || errno == ENOSYS) {  // a file system without NOREPLACE
        if (::linkat(folder_, temporary_.c_str(), folder_, name.c_str(), 0) != 0) failed = errno;
    } else {
        failed = errno;
    }
    if (failed == EEXIST) return Outcome::already_there;
    if (failed != 0) return fail_errno(failed, "publish '{}'", name);
    return Outcome::created;
}

void UnnamedFile::start_sync() const
{
    ::sync_file_range(fd_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
}

Result<> UnnamedFile::sync() const
{
    while (::fsync(fd_.get()) != 0) {
        if (errno != EINTR) return fail_errno(errno, "flush a file");
    }
    return {};
}

}  // namespace ponk::os
