// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/run_folder.hpp"

#include "executor/run_directory/control_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor {

namespace {

std::string descriptor_path(int fd)
{
    return fmt::format("/proc/self/fd/{}", fd);
}

// One step down; `at` is a folder of the run.
Result<os::Fd> step(int at, const std::string& name)
{
    os::Fd next(::openat(at, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) {
        const int problem = errno;
        struct stat info {};
        if (::fstatat(at, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            (S_ISDIR(info.st_mode) && problem != ELOOP))
            return fail_errno(problem, "open {}", os::in_quotes(name));
        return fail(ErrorKind::conflict,
                    "{} is {}",
                    os::in_quotes(name),
                    S_ISLNK(info.st_mode) ? "a link, which is not followed" : "not a folder");
    }
    struct stat info {};
    if (::fstat(next.get(), &info) == 0 && info.st_uid == ::geteuid() &&
        (info.st_mode & S_IRWXU) != S_IRWXU)
        ::chmod(descriptor_path(next.get()).c_str(), (info.st_mode & 07777U) | S_IRWXU);
    return next;
}

}  // namespace

Result<RunFolder> RunFolder::open(const Path& directory, const Path& relative)
{
    open_up(directory);
    auto at = TRY(os::open_file(directory, O_PATH | O_DIRECTORY));
    for (const auto& part : relative)
        at = TRY(step(at.get(), part.native()));
    os::Fd folder(::openat(at.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return fail_errno(errno, "open {}", os::in_quotes(directory / relative));
    return RunFolder(std::move(folder), directory / relative);
}

Path RunFolder::path() const
{
    // With the dot it is a folder for everybody, not a link to one.
    return descriptor_path(fd_.get()) + "/.";
}

Error RunFolder::in_words(const Error& error) const
{
    auto text = error.message();
    const auto ours = path().native();
    for (auto at = text.find(ours); at != std::string::npos;
         at = text.find(ours, at + name_.native().size()))
        text.replace(at, ours.size(), name_.native());
    return {error.kind(), std::move(text), error.hint()};
}

}  // namespace ponk::executor
