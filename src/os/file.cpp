// SPDX-License-Identifier: Apache-2.0
#include "os/file.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace ponk::os {

std::string in_quotes(const Path& path)
{
    return "'" + printable(path.native()) + "'";
}

Result<Fd> open_file(const Path& path, int flags, mode_t mode)
{
    for (;;) {
        const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
        if (fd >= 0) return Fd(fd);
        if (errno != EINTR) return fail_errno(errno, "open {}", in_quotes(path));
    }
}

Result<Fd> open_regular(const Path& path, Links links)
{
    const int no_follow = links == Links::refuse ? O_NOFOLLOW : 0;
    const auto no_plain_file = [&] {
        return fail(ErrorKind::invalid_argument, "{} is not a regular file", in_quotes(path));
    };
    struct stat info {};
    auto opened = open_file(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | no_follow);
    if (!opened) {
        // A socket cannot be opened, and the kernel's words for that say nothing.
        if (::stat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode)) return no_plain_file();
        return opened;
    }
    auto file = std::move(*opened);
    if (::fstat(file.get(), &info) != 0) return fail_errno(errno, "check {}", in_quotes(path));
    if (S_ISDIR(info.st_mode))
        return fail(ErrorKind::invalid_argument, "{} is a folder", in_quotes(path));
    if (!S_ISREG(info.st_mode)) return no_plain_file();
    return file;
}

Result<std::string> read_file(const Path& path, std::uint64_t limit)
{
    const auto file = TRY(open_regular(path));
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) return fail_errno(errno, "check {}", in_quotes(path));
    const auto too_large = [&] {
        return fail(ErrorKind::invalid_argument,
                    "{} is larger than the limit of {}",
                    in_quotes(path),
                    byte_size_text(limit));
    };
    if (info.st_size > 0 && static_cast<std::uint64_t>(info.st_size) > limit) return too_large();
    std::string out;
    if (info.st_size > 0) out.reserve(static_cast<std::size_t>(info.st_size));
    char block[65536];
    for (;;) {
        const auto got = ::read(file.get(), block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "read {}", in_quotes(path));
        if (got == 0) return out;
        out.append(block, static_cast<std::size_t>(got));
        if (out.size() > limit) return too_large();
    }
}

Result<std::optional<std::string>> read_file_if_any(const Path& path, std::uint64_t limit)
{
    auto text = read_file(path, limit);
    if (text) return std::optional<std::string>(std::move(*text));
    if (text.error().kind() == ErrorKind::not_found) return std::optional<std::string>();
    return tl::unexpected(text.error());
}

Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t size)
{
    std::string out(size, '\0');
    std::size_t filled = 0;
    while (filled < size) {
        const auto got =
            ::pread(fd, out.data() + filled, size - filled, static_cast<off_t>(offset + filled));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "read");
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    out.resize(filled);
    return out;
}

std::uint64_t data_from(int fd, std::uint64_t offset, std::uint64_t end)
{
    if (offset >= end) return end;
    const auto found = ::lseek(fd, static_cast<off_t>(offset), SEEK_DATA);
    if (found < 0) return errno == ENXIO ? end : offset;
    return std::min(static_cast<std::uint64_t>(found), end);
}

std::uint64_t hole_from(int fd, std::uint64_t offset, std::uint64_t end)
{
    if (offset >= end) return end;
    const auto found = ::lseek(fd, static_cast<off_t>(offset), SEEK_HOLE);
    return found < 0 ? end : std::min(static_cast<std::uint64_t>(found), end);
}

Result<> write_all(int fd, std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto put = ::write(fd, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_errno(errno, "write");
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
}

Result<> sync_directory(const Path& path)
{
    const auto folder = TRY(open_file(path.empty() ? Path(".") : path, O_RDONLY | O_DIRECTORY));
    if (::fsync(folder.get()) != 0) return fail_errno(errno, "flush {}", in_quotes(path));
    return {};
}

Result<> replace_file(const Path& path, std::string_view bytes, mode_t mode, Durable durable)
{
    auto temporary = path;
    temporary += ".tmp-" + to_hex(random_bytes(6));
    const auto write = [&]() -> Result<> {
        const auto file = TRY(open_file(temporary, O_WRONLY | O_CREAT | O_EXCL, mode));
        TRY(write_all(file.get(), bytes).map_error(while_doing("write {}", in_quotes(path))));
        if (durable != Durable::no && ::fsync(file.get()) != 0)
            return fail_errno(errno, "flush {}", in_quotes(path));
        if (::rename(temporary.c_str(), path.c_str()) != 0)
            return fail_errno(errno, "replace {}", in_quotes(path));
        return {};
    };
    auto written = write();
    if (!written) {
        ::unlink(temporary.c_str());
        return written;
    }
    return durable == Durable::yes ? sync_directory(path.parent_path()) : Result<>{};
}

Result<> publish_file(const Path& path, std::string_view bytes, mode_t mode)
{
    auto temporary = path;
    temporary += ".tmp-" + to_hex(random_bytes(6));
    const auto write = [&]() -> Result<> {
        const auto file = TRY(open_file(temporary, O_WRONLY | O_CREAT | O_EXCL, mode));
        TRY(write_all(file.get(), bytes).map_error(while_doing("write {}", in_quotes(path))));
        if (::fsync(file.get()) != 0) return fail_errno(errno, "flush {}", in_quotes(path));
        if (::link(temporary.c_str(), path.c_str()) != 0)
            return fail_errno(errno, "publish {}", in_quotes(path));
        return {};
    };
    const auto written = write();
    ::unlink(temporary.c_str());
    if (!written) return written;
    return sync_directory(path.parent_path());
}

Result<std::uint64_t> free_space(const Path& path)
{
    struct statvfs info {};
    if (::statvfs(path.c_str(), &info) != 0) return fail_errno(errno, "check {}", in_quotes(path));
    return std::uint64_t{info.f_bavail} * info.f_frsize;
}

Result<> copy_contents(int from, int to)
{
    if (::ioctl(to, FICLONE, from) == 0) return {};
    bool in_kernel = true;
    std::string block;
    for (;;) {
        if (in_kernel) {
            const auto moved =
                ::copy_file_range(from, nullptr, to, nullptr, std::size_t{1} << 30, 0);
            if (moved == 0) return {};
            if (moved > 0) continue;
            if (errno == EINTR) continue;
            if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP &&
                errno != EPERM)
                return fail_errno(errno, "copy");
            in_kernel = false;
            block.resize(std::size_t{1} << 20);
        }
        const auto got = ::read(from, block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "read");
        if (got == 0) return {};
        TRY(write_all(to, {block.data(), static_cast<std::size_t>(got)}));
    }
}

}  // namespace ponk::os
