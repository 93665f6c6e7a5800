// SPDX-License-Identifier: Apache-2.0
#include "os/tree.hpp"

#include "os/file.hpp"

#include <climits>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ponk::os {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

void fill(const struct stat& info, FileStatus& out)
{
    out.size = static_cast<std::uint64_t>(info.st_size);
    out.mtime_ns = info.st_mtim.tv_sec * second_ns + info.st_mtim.tv_nsec;
    out.ctime_ns = info.st_ctim.tv_sec * second_ns + info.st_ctim.tv_nsec;
    out.inode = info.st_ino;
    out.device = info.st_dev;
    out.mode = info.st_mode;
    out.links = static_cast<std::uint32_t>(info.st_nlink);
    out.owner = info.st_uid;
}

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

int open_step(int folder, const char* name)
{
    for (;;) {
        const int fd = ::openat(folder, name, folder_flags);
        if (fd >= 0) return fd;
        if (errno != EINTR) return -errno;
    }
}

int open_by_steps(int root, std::string_view relative)
{
    Fd current;
    int at = root;
    while (!relative.empty()) {
        const auto slash = std::min(relative.find('/'), relative.size());
        const std::string part(relative.substr(0, slash));
        relative.remove_prefix(std::min(slash + 1, relative.size()));
        if (part.empty() || part == ".") continue;
        if (part == "..") return -EXDEV;
        const int next = open_step(at, part.c_str());
        if (next < 0) return next;
        current.reset(next);
        at = next;
    }
    return current ? current.release() : open_step(root, ".");
}

}  // namespace

bool FileStatus::is_file() const noexcept
{
    return S_ISREG(mode);
}

bool FileStatus::is_folder() const noexcept
{
    return S_ISDIR(mode);
}

bool FileStatus::is_link() const noexcept
{
    return S_ISLNK(mode);
}

int status_of(int fd, FileStatus& out)
{
    struct stat info;
    if (::fstat(fd, &info) != 0) return errno;
    fill(info, out);
    return 0;
}

int status_at(int folder, const char* name, FileStatus& out)
{
    struct stat info;
    if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    fill(info, out);
    return 0;
}

int open_folder_beneath(int root, const std::string& relative)
{
    if (relative.empty()) return open_step(root, ".");
    if (relative.size() >= PATH_MAX) return open_by_steps(root, relative);
    open_how how{};
    how.flags = static_cast<__u64>(folder_flags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    for (;;) {
        const auto fd = ::syscall(SYS_openat2, root, relative.c_str(), &how, sizeof how);
        if (fd >= 0) return static_cast<int>(fd);
        if (errno == EINTR || errno == EAGAIN) continue;
        if (errno == ENOSYS || errno == EPERM) return open_by_steps(root, relative);
        return -errno;
    }
}

int NameList::read(int folder)
{
    if (buffer_.empty()) buffer_.resize(std::size_t{64} << 10);
    names_.clear();
    std::size_t filled = 0;
    for (;;) {
        if (buffer_.size() - filled < (std::size_t{32} << 10)) buffer_.resize(buffer_.size() * 2);
        const auto got =
            ::syscall(SYS_getdents64, folder, buffer_.data() + filled, buffer_.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    // struct linux_dirent64: u64 inode, i64 offset, u16 length, u8 type, name.
    for (std::size_t at = 0; at < filled;) {
        std::uint64_t inode = 0;
        std::uint16_t length = 0;
        std::memcpy(&inode, buffer_.data() + at, sizeof inode);
        std::memcpy(&length, buffer_.data() + at + 16, sizeof length);
        auto type = static_cast<unsigned char>(buffer_[at + 18]);
        const std::string_view name(buffer_.data() + at + 19);
        at += length;
        if (name == "." || name == "..") continue;
        if (type == DT_UNKNOWN) {
            FileStatus status;
            if (status_at(folder, name.data(), status) == 0)
                type = static_cast<unsigned char>(IFTODT(status.mode));
        }
        names_.push_back({name, type, inode});
    }
    return 0;
}

bool share_contents(int from, int to)
{
    return ::ioctl(to, FICLONE, from) == 0;
}

bool share_range(int from, std::uint64_t offset, std::uint64_t length, int to, std::uint64_t at)
{
    file_clone_range range{};
    range.src_fd = from;
    range.src_offset = offset;
    range.src_length = length;
    range.dest_offset = at;
    return ::ioctl(to, FICLONERANGE, &range) == 0;
}

bool is_hole(int fd, std::uint64_t offset, std::uint64_t length)
{
    return data_from(fd, offset, offset + length) == offset + length;
}

bool has_no_writer(int fd)
{
    // A read lease is granted only while nobody has the file open for writing.
    if (::fcntl(fd, F_SETLEASE, F_RDLCK) != 0) return false;
    ::fcntl(fd, F_SETLEASE, F_UNLCK);
    return true;
}

}  // namespace ponk::os
