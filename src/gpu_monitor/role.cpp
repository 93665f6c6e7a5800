// SPDX-License-Identifier: Apache-2.0
#include "gpu_monitor/role.hpp"

#include "base/text.hpp"
#include "executor/gpu/monitor.hpp"
#include "gpu_monitor/keeper.hpp"
#include "os/file.hpp"
#include "os/variables.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::gpu_monitor {

namespace {

constexpr const char* role_name = "ponk-gpu-monitor";
constexpr int failed = 1;
constexpr int misused = 2;
constexpr int claimed = 75;

Result<std::string> read_all(int fd)
{
    std::string bytes;
    char block[65536];
    for (;;) {
        const auto got = ::read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "read the environment");
        if (got == 0) return bytes;
        bytes.append(block, static_cast<std::size_t>(got));
    }
}

// nullopt when another process is beside this run already.
Result<std::optional<os::Fd>> claim(const os::Path& directory)
{
    auto lock = TRY(os::open_file(
        directory / executor::control::monitor_lock, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    struct flock whole {};
    whole.l_type = F_WRLCK;
    if (::fcntl(lock.get(), F_OFD_SETLK, &whole) != 0) return std::nullopt;
    return lock;
}

Result<> keep(const executor::RunDirectory& directory, int environment, Report& report, int lease)
{
    auto words = split(TRY(read_all(environment)), '\0');
    ::close(environment);
    if (!words.empty() && words.back().empty()) words.pop_back();
    if (words.empty()) return fail(ErrorKind::invalid_argument, "no key was given");
    auto key = std::move(words.front());
    words.erase(words.begin());
    const auto lock = TRY(claim(directory.task()));
    if (!lock) {
        report.say("claimed");
        ::_exit(claimed);
    }
    const auto text = TRY(os::read_file(directory.task() / executor::control::monitor));
    Keeper keeper({.job = TRY(executor::parse_monitor_job(text)),
                   .directory = directory,
                   .files = {directory.task(), key},
                   .key = key,
                   .own_environment = os::own_variables(),
                   .run_environment = std::move(words),
                   .lease = os::Fd(lease)},
                  report);
    return keeper.run();
}

}  // namespace

bool is_wanted(int argc, const char* const* argv)
{
    return (argc > 0 && std::strcmp(argv[0], role_name) == 0) ||
           (argc > 1 && std::strcmp(argv[1], role_name) == 0);
}

int main(int argc, char** argv)
{
    // A shell cannot give a program another name.
    if (std::strcmp(argv[0], role_name) != 0) {
        --argc;
        ++argv;
    }
    if (argc != 4 && argc != 5) {
        std::fputs("usage: ponk-gpu-monitor DIRECTORY ENVIRONMENT REPORT [LEASE]\nLeases GPUs for "
                   "one run. Started by ponk, not by hand.\n",
                   stderr);
        return misused;
    }
    const auto number = [argv](int i) {
        return static_cast<int>(parse_integer(argv[i]).value_or(-1));
    };
    ::setsid();
    ::umask(077);
    ::signal(SIGHUP, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);
    // The key is in our memory, and the script is of the same user.
    ::prctl(PR_SET_DUMPABLE, 0);
    for (int i = 2; i < argc; ++i)
        ::fcntl(number(i), F_SETFD, FD_CLOEXEC);
    Report report{os::Fd(number(3))};
    const auto kept =
        keep(executor::RunDirectory(argv[1]), number(2), report, argc == 5 ? number(4) : -1);
    if (!kept) static_cast<void>(report.refuse(kept.error()));
    return kept ? 0 : failed;
}

}  // namespace ponk::gpu_monitor
