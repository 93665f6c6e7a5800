// SPDX-License-Identifier: Apache-2.0
#include "daemon/lifetime.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace ponk::daemon {

namespace {

// A daemon that was told to stop, or was killed, may still be closing its files.
constexpr std::chrono::seconds detach{3};

// Who holds the home has written its pid into the lock file.
Error taken(int lock, const os::Path& home)
{
    const auto text = os::read_at(lock, 0, 32);
    const auto pid = text ? parse_integer(trim(*text)) : std::nullopt;
    if (!pid) {
        return {ErrorKind::conflict,
                "another daemon serves " + os::in_quotes(home),
                "It is starting or ending: try again in a moment."};
    }
    return {ErrorKind::conflict,
            fmt::format("another daemon (process {}) serves {}", *pid, os::in_quotes(home)),
            fmt::format(
                "Run 'ponk daemon stop'. If that does not find it, run 'kill {}'. Runs continue.",
                *pid)};
}

}  // namespace

Result<os::Fd> take_home(const os::Path& home)
{
    auto file = TRY(os::open_file(home / "daemon.lock", O_RDWR | O_CREAT, 0600));
    const auto deadline = after(detach);
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return fail_errno(errno, "lock {}", os::in_quotes(home / "daemon.lock"));
        if (Deadline::clock::now() < deadline && os::sleep_for(std::chrono::milliseconds(2), {}))
            continue;
        return tl::unexpected(taken(file.get(), home));
    }
    const auto text = std::to_string(::getpid()) + "\n";
    if (::ftruncate(file.get(), 0) == 0) static_cast<void>(os::write_all(file.get(), text));
    return file;
}

void leave_cgroup()
{
    ::prctl(PR_SET_NAME, "ponk-daemon");
    const auto groups = os::read_file("/proc/self/cgroup");
    if (!groups) return;
    for (const auto& line : split(*groups, '\n')) {
        const auto run = line.find("/ponk-");
        if (!line.starts_with("0::") || run == std::string::npos) continue;
        for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
            const auto members = std::string(mount) + line.substr(3, run - 3) + "/cgroup.procs";
            const os::Fd file(::open(members.c_str(), O_WRONLY | O_CLOEXEC));
            if (file) static_cast<void>(os::write_all(file.get(), "0"));  // 0: the writer
        }
    }
}

Signals::Signals()
{
    sigset_t set;
    ::sigemptyset(&set);
    for (const int number : {SIGTERM, SIGINT, SIGHUP})
        ::sigaddset(&set, number);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace ponk::daemon
