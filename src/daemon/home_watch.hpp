// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <optional>
#include <sys/stat.h>

namespace ponk::daemon {

// Sees when the home folder is taken away from under the daemon: then every file it has open is one
// that nobody else can see, and whatever it stores is lost. Safe to ask from any thread.
class HomeWatch {
public:
    // `lock` is the open daemon.lock of `home`; both outlive the watch.
    HomeWatch(const os::Path& home, const os::Fd& lock);

    // Readable when something left the folder: ask again.
    [[nodiscard]] int fd() const noexcept { return inotify_.get(); }
    void silence() const;
    // Set when the folder, or the lock in it, is no longer the one that we serve.
    [[nodiscard]] std::optional<Error> loss() const;
    // The lock has no name any more: what was removed with it does not come back.
    [[nodiscard]] bool is_removed() const;

private:
    const os::Path& home_;
    const os::Fd& lock_;
    const os::Path file_;  // of the lock: asked for with each request
    struct stat held_ {};  // likewise
    os::Fd inotify_;       // none when the user's limit is used up; then only asking helps
};

}  // namespace ponk::daemon
