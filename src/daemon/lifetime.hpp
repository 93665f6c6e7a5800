// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"
#include "os/wait.hpp"

#include <string>

namespace ponk::daemon {

// The right to be the one daemon of a home: a lock on daemon.lock, held by the process.
Result<os::Fd> take_home(const os::Path& home);

// Takes the name by which supervisors know a daemon, and leaves the control group of a run whose
// script started us: that run's end is not ours.
void leave_cgroup();

// SIGTERM, SIGINT and SIGHUP as something to wait for. Blocks them for the whole process, so make
// it before the first thread.
class Signals {
public:
    Signals();
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

private:
    os::Fd fd_;
};

}  // namespace ponk::daemon
