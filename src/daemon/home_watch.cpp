// SPDX-License-Identifier: Apache-2.0
#include "daemon/home_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

namespace ponk::daemon {

namespace {

constexpr std::uint32_t leavings =
    IN_DELETE | IN_DELETE_SELF | IN_MOVED_FROM | IN_MOVE_SELF | IN_ONLYDIR;

}  // namespace

HomeWatch::HomeWatch(const os::Path& home, const os::Fd& lock)
    : home_(home), lock_(lock), file_(home / "daemon.lock"),
      inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK))
{
    ::fstat(lock.get(), &held_);
    if (inotify_ && ::inotify_add_watch(inotify_.get(), home.c_str(), leavings) < 0)
        inotify_.reset();
}

void HomeWatch::silence() const
{
    char events[4096];
    while (::read(inotify_.get(), events, sizeof events) > 0) {
    }
}

bool HomeWatch::is_removed() const
{
    struct stat held {};
    return ::fstat(lock_.get(), &held) == 0 && held.st_nlink == 0;
}

std::optional<Error> HomeWatch::loss() const
{
    struct stat there {};
    if (::stat(file_.c_str(), &there) == 0 && held_.st_ino == there.st_ino &&
        held_.st_dev == there.st_dev)
        return std::nullopt;
    return Error(ErrorKind::unavailable,
                 fmt::format("ponk's folder {} was {} while its daemon was running",
                             os::in_quotes(home_),
                             is_removed() ? "removed" : "moved away or covered"),
                 "The daemon ends; the next command starts a new one.");
}

}  // namespace ponk::daemon
