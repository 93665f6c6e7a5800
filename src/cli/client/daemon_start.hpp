// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <string>
#include <string_view>
#include <sys/types.h>

namespace ponk::cli {

// Makes ponk's home folder (0700), with an error that says what to do.
Result<> make_home(const os::Path& home);

// The lock of the one command that starts or replaces the daemon; the others wait for it and then
// find the daemon there. Given back by closing, so a killed command holds nobody up.
Result<os::Fd> lock_start(const os::Path& home, Deadline deadline);

// Starts our own program as daemon, in a session of its own, and returns when its socket answers.
// The caller holds the lock.
Result<> start_daemon(const os::Path& home, Deadline deadline);
// Whether it could serve this home; nothing is started and nothing is stopped.
Result<> check_daemon(const os::Path& home, Deadline deadline);

// What the daemon reports to its starter: this line, or why it cannot serve.
inline constexpr std::string_view daemon_is_ready = "ready\n";
std::string failure_for_starter(const Error& error);

// Waits until the daemon, process `pid`, is gone.
Result<> wait_for_end(pid_t pid, Deadline deadline);

// The next step when the daemon hangs: a hint.
std::string how_to_end_daemon(pid_t pid);

}  // namespace ponk::cli
