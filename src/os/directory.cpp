// SPDX-License-Identifier: Apache-2.0
#include "os/directory.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <memory>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ponk::os {

namespace {

bool stays_inside(const Path& relative)
{
    if (relative.empty() || relative.is_absolute()) return false;
    if (relative.native().find('\0') != std::string::npos) return false;
    return std::none_of(
        relative.begin(), relative.end(), [](const Path& part) { return part == ".."; });
}

tl::unexpected<Error> outside(const Path& relative)
{
    return fail(ErrorKind::invalid_argument, "{} is outside its folder", in_quotes(relative));
}

}  // namespace

Result<Fd> open_beneath(int root, const Path& relative, int flags, mode_t mode)
{
    if (!stays_inside(relative)) return outside(relative);
    open_how how{};
    how.flags = static_cast<__u64>(static_cast<unsigned>(flags | O_CLOEXEC));
    // O_TMPFILE contains the bit of O_DIRECTORY; a mode beside that one alone is refused.
    const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    how.mode = makes ? mode : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    for (;;) {
        const auto fd = ::syscall(SYS_openat2, root, relative.c_str(), &how, sizeof how);
        if (fd >= 0) return Fd(static_cast<int>(fd));
        if (errno == EINTR || errno == EAGAIN) continue;
        if (errno == ENOSYS || errno == EPERM)
            return open_beneath_by_steps(root, relative, flags, mode);
        if (errno == EXDEV || errno == ELOOP) return outside(relative);
        return fail_errno(errno, "open {}", in_quotes(relative));
    }
}

Result<Fd> open_beneath_by_steps(int root, const Path& relative, int flags, mode_t mode)
{
    if (!stays_inside(relative)) return outside(relative);
    Fd folder;
    int at = root;
    std::vector<Path> parts;
    for (const auto& part : relative) {
        if (!part.empty() && part != ".") parts.push_back(part);
    }
    if (parts.empty()) parts.emplace_back(".");
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        Fd next(::openat(at, parts[i].c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!next) {
            if (errno == ELOOP) return outside(relative);
            if (errno == ENOTDIR) {  // O_PATH on a link says "not a folder"
                struct stat info {};
                if (::fstatat(at, parts[i].c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISLNK(info.st_mode))
                    return outside(relative);
                errno = ENOTDIR;
            }
            return fail_errno(errno, "open {}", in_quotes(relative));
        }
        folder = std::move(next);
        at = folder.get();
    }
    Fd file(::openat(at, parts.back().c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file) {
        if (errno == ELOOP) return outside(relative);
        return fail_errno(errno, "open {}", in_quotes(relative));
    }
    return file;
}

Result<Fd> open_in_root(int root, const Path& path, int flags)
{
    const auto relative = path.relative_path();
    if (relative.empty() || relative.native().find('\0') != std::string::npos) return outside(path);
    open_how how{};
    how.flags = static_cast<__u64>(static_cast<unsigned>(flags | O_CLOEXEC));
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    for (;;) {
        const auto fd = ::syscall(SYS_openat2, root, relative.c_str(), &how, sizeof how);
        if (fd >= 0) return Fd(static_cast<int>(fd));
        if (errno == EINTR || errno == EAGAIN) continue;
        if (errno == ENOSYS || errno == EPERM) return open_beneath_by_steps(root, relative, flags);
        return fail_errno(errno, "open {}", in_quotes(path));
    }
}

Result<std::string> read_in_root(int root, const Path& path, std::uint64_t limit)
{
    const auto found = TRY(open_in_root(root, path, O_PATH));
    struct stat info {};
    if (::fstat(found.get(), &info) != 0) return fail_errno(errno, "check {}", in_quotes(path));
    if (!S_ISREG(info.st_mode))
        return fail(ErrorKind::invalid_argument, "{} is not a regular file", in_quotes(path));
    return read_file(fmt::format("/proc/self/fd/{}", found.get()), limit);
}

Result<std::vector<Entry>> list_directory(int folder)
{
    Fd copy(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!copy) return fail_errno(errno, "list a folder");
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy.get()), ::closedir);
    if (!stream) return fail_errno(errno, "list a folder");
    static_cast<void>(copy.release());  // the stream owns it
    std::vector<Entry> entries;
    for (;;) {
        errno = 0;
        const auto* item = ::readdir(stream.get());
        if (!item) {
            if (errno != 0) return fail_errno(errno, "list a folder");
            break;
        }
        Entry entry{item->d_name, item->d_type};
        if (entry.name == "." || entry.name == "..") continue;
        if (entry.type == DT_UNKNOWN) {
            struct stat info {};
            if (::fstatat(::dirfd(stream.get()), item->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0)
                entry.type = static_cast<unsigned char>(IFTODT(info.st_mode));
        }
        entries.push_back(std::move(entry));
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
        return left.name < right.name;
    });
    return entries;
}

Result<std::vector<Entry>> list_directory(const Path& folder)
{
    const auto fd = TRY(open_file(folder, O_RDONLY | O_DIRECTORY));
    return list_directory(fd.get()).map_error(while_doing("{}", in_quotes(folder)));
}

Result<> make_directories(const Path& path, mode_t mode)
{
    if (::mkdir(path.c_str(), mode) == 0) return {};
    if (errno == ENOENT && path.has_parent_path() && path.parent_path() != path) {
        TRY(make_directories(path.parent_path(), mode));
        if (::mkdir(path.c_str(), mode) == 0) return {};
    }
    if (errno == EEXIST) {
        struct stat info {};
        if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return {};
        return fail(ErrorKind::conflict, "{} exists and is not a folder", in_quotes(path));
    }
    return fail_errno(errno, "create folder {}", in_quotes(path));
}

Result<Path> make_temporary_directory(const Path& parent, std::string_view prefix)
{
    for (;;) {
        auto path = parent / (std::string(prefix) + to_hex(random_bytes(6)));
        if (::mkdir(path.c_str(), 0700) == 0) return path;
        if (errno != EEXIST) return fail_errno(errno, "create folder {}", in_quotes(path));
    }
}

namespace {

Result<> remove_contents(int folder)
{
    for (const auto& entry : TRY(list_directory(folder))) {
        if (entry.type == DT_DIR) {
            Fd child(::openat(
                folder, entry.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
            if (!child && errno == EACCES) {  // a folder without our own permission bits
                if (::fchmodat(folder, entry.name.c_str(), 0700, 0) == 0) {
                    child.reset(::openat(folder,
                                         entry.name.c_str(),
                                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
                }
            }
            if (child) {
                ::fchmod(child.get(), 0700);
                TRY(remove_contents(child.get()));
            }
            if (::unlinkat(folder, entry.name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
                return fail_errno(errno, "remove {}", in_quotes(entry.name));
        } else if (::unlinkat(folder, entry.name.c_str(), 0) != 0 && errno != ENOENT) {
            return fail_errno(errno, "remove {}", in_quotes(entry.name));
        }
    }
    return {};
}

}  // namespace

Result<> remove_tree(const Path& path)
{
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
        if (errno == ENOENT) return {};
        return fail_errno(errno, "check {}", in_quotes(path));
    }
    if (!S_ISDIR(info.st_mode)) {
        if (::unlink(path.c_str()) != 0) return fail_errno(errno, "remove {}", in_quotes(path));
        return {};
    }
    {
        Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!folder && errno == EACCES) {  // a folder without our own permission bits
            // Where that fails, opening says why.
            [[maybe_unused]] const int changed =
                ::fchmodat(AT_FDCWD, path.c_str(), 0700, AT_SYMLINK_NOFOLLOW);
            folder.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        }
        if (!folder) return fail_errno(errno, "open {}", in_quotes(path));
        ::fchmod(folder.get(), 0700);
        TRY(remove_contents(folder.get()).map_error(while_doing("{}", in_quotes(path))));
    }
    if (::rmdir(path.c_str()) != 0) return fail_errno(errno, "remove {}", in_quotes(path));
    return {};
}

}  // namespace ponk::os
