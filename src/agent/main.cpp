// SPDX-License-Identifier: Apache-2.0
// ponk-agent serve --home FOLDER: the part of ponk on another machine. Speaks with a daemon through
// standard input and output, as long as they are open; runs live on without it. Under the name
// ponk-gpu-monitor it is the process beside one of these runs. ponk-agent leave --home FOLDER
// clears what runs have outside of the folder, before that is deleted.
#include "agent/leave.hpp"
#include "agent/server.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "executor/remote/wire/message.hpp"
#include "executor/supervisor/embedded.hpp"
#include "gpu_monitor/role.hpp"
#include "os/carried_program.hpp"
#include "os/identity.hpp"
#include "os/variables.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <nss.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::agent {
namespace {

constexpr int failed = 1;
constexpr int misused = 2;
// Whatever hangs when the line is gone: all that counts is on disk.
constexpr unsigned detach_seconds = 20;

int say(const Error& error)
{
    std::fprintf(stderr, "ponk-agent: %s\n", error.message().c_str());
    if (!error.hint().empty()) std::fprintf(stderr, "%s\n", error.hint().c_str());
    return failed;
}

// A static program must not load the other machine's modules for looking up names: they belong to
// another C library. Who is in none of its files is known by the variables that sshd sets.
void look_up_names_in_files()
{
    for (const char* database : {"passwd", "group"})
        ::__nss_configure_lookup(database, "files");
    ::__nss_configure_lookup("hosts", "files dns");
}

Result<> serve(const Path& home)
{
    // Nobody else shall write between our frames.
    os::Fd out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10));
    os::Fd in(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10));
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    const auto null = TRY(os::open_file("/dev/null", O_RDWR));
    ::dup2(null.get(), STDIN_FILENO);
    const auto program = TRY(os::read_file("/proc/self/exe"));
    const auto calls = TRY(Calls::make(home, os::own_variables()));
    const auto hello =
        executor::remote::to_json(executor::remote::Hello{.program = sha256(program).text(),
                                                          .boot = os::boot_id(),
                                                          .home = home.native(),
                                                          .architecture = os::own_processor(),
                                                          .identity = calls->identity()});
    Server server(*calls, std::move(in), std::move(out));
    const auto served = server.serve(hello);
    ::alarm(detach_seconds);
    return served;
}

// Names of runs on standard input; what stays goes to standard output, a line each.
Result<> take_leave(const Path& home)
{
    std::string names;
    for (char piece[4096];;) {
        const auto count = ::read(STDIN_FILENO, piece, sizeof piece);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail_errno(errno, "read the names of runs");
        if (count == 0) break;
        names.append(piece, static_cast<std::size_t>(count));
    }
    for (const auto& line : TRY(leave(home, names)))
        std::printf("%s\n", printable(line).c_str());
    return {};
}

}  // namespace
}  // namespace ponk::agent

int main(int argc, char** argv)
{
    using namespace ponk;
    if (gpu_monitor::is_wanted(argc, argv)) {
        agent::look_up_names_in_files();
        return gpu_monitor::main(argc, argv);
    }
    const std::string_view verb = argc == 4 ? argv[1] : "";
    if ((verb != "serve" && verb != "leave") || std::strcmp(argv[2], "--home") != 0) {
        std::fputs("usage: ponk-agent serve|leave --home FOLDER\nExecutes runs for a ponk on "
                   "another machine. Started by ponk, not by hand.\n",
                   stderr);
        return agent::misused;
    }
    ::signal(SIGPIPE, SIG_IGN);
    ::umask(077);
    agent::look_up_names_in_files();
    try {
        const auto done = verb == "leave" ? agent::take_leave(argv[3]) : agent::serve(argv[3]);
        return done ? 0 : agent::say(done.error());
    } catch (const std::exception& problem) {
        return agent::say(Error(ErrorKind::internal, problem.what()));
    }
}
