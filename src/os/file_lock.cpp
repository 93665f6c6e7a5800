// SPDX-License-Identifier: Apache-2.0
#include "os/file_lock.hpp"

#include "os/wait.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>

namespace ponk::os {

Result<std::optional<FileLock>> FileLock::try_take(const Path& path, Kind kind)
{
    auto file = TRY(open_file(path, O_RDWR | O_CREAT));
    const int operation = (kind == Kind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
    while (::flock(file.get(), operation) != 0) {
        if (errno == EWOULDBLOCK) return std::optional<FileLock>();
        if (errno != EINTR) return fail_errno(errno, "lock {}", in_quotes(path));
    }
    return std::optional<FileLock>(FileLock(std::move(file)));
}

Result<FileLock>
FileLock::take(const Path& path, Kind kind, Deadline deadline, std::stop_token stop)
{
    auto pause = std::chrono::milliseconds(1);
    for (;;) {
        auto lock = TRY(try_take(path, kind));
        if (lock) return std::move(*lock);
        if (std::chrono::steady_clock::now() >= deadline)
            return fail(ErrorKind::timeout, "{} is locked by another process", in_quotes(path));
        if (!sleep_for(pause, stop))
            return fail(ErrorKind::cancelled, "stopped while waiting for {}", in_quotes(path));
        pause = std::min(pause * 2, std::chrono::milliseconds(50));
    }
}

}  // namespace ponk::os
