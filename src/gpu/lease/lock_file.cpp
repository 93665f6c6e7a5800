// SPDX-License-Identifier: Apache-2.0
#include "gpu/lease/lock_file.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "os/unnamed_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::gpu {

namespace {

constexpr mode_t for_everybody = 01777;
// The sticky bit of a plain file keeps those away who sweep old files from temporary folders.
constexpr mode_t lock_file_mode = 01666;

bool is_open_to_all(const struct stat& info)
{
    return S_ISDIR(info.st_mode) && (info.st_mode & for_everybody) == for_everybody;
}

struct flock whole_file(short type)
{
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

// Made under another name first, so that nobody meets it with fewer rights than it shall have.
Result<> make_folder(const Path& path)
{
    auto temporary = path;
    temporary += ".tmp-" + to_hex(random_bytes(6));
    if (::mkdir(temporary.c_str(), 0700) != 0)
        return fail_errno(errno, "create the folder {}", os::in_quotes(path));
    int failed = ::chmod(temporary.c_str(), for_everybody) != 0 ? errno : 0;
    if (failed == 0 &&
        ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0)
        failed = errno;
    if (failed == 0) return {};
    ::rmdir(temporary.c_str());
    if (failed == EEXIST) return {};
    // A file system that cannot tell: the name is taken at once, its rights follow.
    if ((failed == EINVAL || failed == ENOSYS) &&
        (::mkdir(path.c_str(), 0700) == 0 ? ::chmod(path.c_str(), for_everybody) == 0
                                          : errno == EEXIST))
        return {};
    return fail_errno(failed, "create the folder {}", os::in_quotes(path));
}

}  // namespace

Path lock_folder_of_machine(const Path& root)
{
    struct stat info {};
    const auto run_lock = root / "run/lock";
    const bool usable = ::lstat(run_lock.c_str(), &info) == 0 && is_open_to_all(info);
    return (usable ? run_lock : root / "var/tmp") / "ponk-gpu";
}

Result<os::Fd> open_lock_folder(const Path& path)
{
    struct stat info {};
    if (::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  "the folder for GPU locks, " + os::in_quotes(path) + ", is a link",
                  "Ask its owner or the administrator to remove it."));
    }
    auto folder = TRY(os::open_file(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
                          .map_error(while_doing("the folder for GPU locks")));
    if (::fstat(folder.get(), &info) != 0)
        return fail_errno(errno, "check {}", os::in_quotes(path));
    if (!is_open_to_all(info)) {
        return tl::unexpected(Error(
            ErrorKind::conflict,
            fmt::format("the folder for GPU locks, {}, has mode {:o}, so not all users of this "
                        "machine can use it",
                        os::in_quotes(path),
                        info.st_mode & 07777U),
            fmt::format("Ask its owner (user id {}) or the administrator to run: chmod 1777 {}",
                        info.st_uid,
                        shell_word(path.native()))));
    }
    return folder;
}

Result<os::Fd> make_lock_folder(const Path& path)
{
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 && errno == ENOENT) TRY(make_folder(path));
    return open_lock_folder(path);
}

Result<std::optional<os::Fd>> find_lock_file(int folder, const std::string& name, int access)
{
    // O_CREAT would be refused on a file of another user in such a folder (protected_regular);
    // O_NONBLOCK: a FIFO in its place cannot make us wait.
    os::Fd file(
        ::openat(folder, name.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file) {
        if (errno == ENOENT) return std::optional<os::Fd>();
        auto error = system_error(errno, "open the lock file " + os::in_quotes(name));
        return tl::unexpected(
            error.with_hint("Ask its owner or the administrator to set its mode to 1666."));
    }
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) return fail_errno(errno, "check {}", os::in_quotes(name));
    if (info.st_nlink == 0) return std::optional<os::Fd>();
    if (!S_ISREG(info.st_mode) || info.st_nlink != 1) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("the lock file {} is {}",
                              os::in_quotes(name),
                              S_ISREG(info.st_mode) ? "a file with several names (hard links)"
                                                    : "not a regular file"),
                  S_ISREG(info.st_mode)
                      ? std::string("Ask the administrator to remove the other name.")
                      : fmt::format("Ask its owner (user id {}) or the administrator to remove it.",
                                    info.st_uid)));
    }
    return std::optional<os::Fd>(std::move(file));
}

Result<os::Fd> open_lock_file(int folder, const std::string& name)
{
    for (int attempt = 0; attempt < 100; ++attempt) {
        if (auto found = TRY(find_lock_file(folder, name, O_RDWR))) return std::move(*found);
        // It gets its name with all its rights, or somebody else's file is there by now.
        auto made = TRY(os::UnnamedFile::create(folder, 0666));
        if (::fchmod(made.fd(), lock_file_mode) != 0)
            return fail_errno(errno, "open {} to all users", os::in_quotes(name));
        TRY(made.link_as(name));
    }
    return fail(ErrorKind::conflict, "the lock file {} is removed repeatedly", os::in_quotes(name));
}

Result<bool> try_lock(int fd, LockKind kind)
{
    auto lock = whole_file(kind == LockKind::shared ? F_RDLCK : F_WRLCK);
    while (::fcntl(fd, F_OFD_SETLK, &lock) != 0) {
        if (errno == EAGAIN || errno == EACCES) return false;
        if (errno != EINTR) return fail_errno(errno, "lock a file");
    }
    return true;
}

Result<bool> is_locked(int fd)
{
    auto lock = whole_file(F_WRLCK);
    if (::fcntl(fd, F_OFD_GETLK, &lock) != 0) return fail_errno(errno, "ask for a lock");
    return lock.l_type != F_UNLCK;
}

bool is_named(int folder, const std::string& name, int fd)
{
    struct stat named {};
    struct stat open {};
    return ::fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           ::fstat(fd, &open) == 0 && named.st_ino == open.st_ino && named.st_dev == open.st_dev;
}

}  // namespace ponk::gpu
