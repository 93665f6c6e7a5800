// SPDX-License-Identifier: Apache-2.0
#include "engine/files/plain_file.hpp"

#include "base/text.hpp"
#include "engine/files/project_files.hpp"
#include "os/directory.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace ponk::engine {

Result<os::Fd> open_plain(int root, const Path& path, struct stat& info)
{
    const auto found = TRY(os::open_beneath(root, path, O_PATH));
    if (::fstat(found.get(), &info) != 0) return fail_errno(errno, "check {}", os::in_quotes(path));
    if (S_ISDIR(info.st_mode))
        return fail(ErrorKind::invalid_argument, "{} is a folder", os::in_quotes(path));
    if (!S_ISREG(info.st_mode))
        return fail(ErrorKind::invalid_argument, "{} is not a regular file", os::in_quotes(path));
    os::Fd file(::open(fmt::format("/proc/self/fd/{}", found.get()).c_str(),
                       O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!file) return fail_errno(errno, "open {}", os::in_quotes(path));
    return file;
}

Result<std::string> read_text(const os::Fd& file, const Path& path)
{
    auto text = TRY(os::read_at(file.get(), 0, longest_text + 1));
    if (text.size() <= longest_text) return text;
    return fail(ErrorKind::invalid_argument,
                "{} is larger than the limit of {}",
                os::in_quotes(path),
                byte_size_text(longest_text));
}

}  // namespace ponk::engine
