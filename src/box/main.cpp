// SPDX-License-Identifier: Apache-2.0
// ponk-box serve --home FOLDER: the part of ponk on another machine. Speaks with a daemon through
// standard input and output, as long as they are open; runs live on without it. Under the name
// ponk-side it is the process beside one of these runs.
#include "base/hash.hpp"
#include "box/server.hpp"
#include "os/carried_program.hpp"
#include "os/identity.hpp"
#include "os/variables.hpp"
#include "side/role.hpp"
#include "target/embedded.hpp"
#include "target/remote/message.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <nss.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::box {
namespace {

constexpr int failed = 1;
constexpr int misused = 2;
// Whatever hangs when the line is gone: all that counts is on disk.
constexpr unsigned farewell_seconds = 20;

int say(const Error& error)
{
    std::fprintf(stderr, "ponk-box: %s\n", error.message().c_str());
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
        target::remote::to_json(target::remote::Hello{.program = sha256(program).text(),
                                                      .boot = os::boot_id(),
                                                      .home = home.native(),
                                                      .architecture = os::own_processor(),
                                                      .identity = calls->identity()});
    Server server(*calls, std::move(in), std::move(out));
    const auto served = server.serve(hello);
    ::alarm(farewell_seconds);
    return served;
}

}  // namespace
}  // namespace ponk::box

int main(int argc, char** argv)
{
    using namespace ponk;
    if (side::is_wanted(argc, argv)) {
        box::look_up_names_in_files();
        return side::main(argc, argv);
    }
    if (argc != 4 || std::strcmp(argv[1], "serve") != 0 || std::strcmp(argv[2], "--home") != 0) {
        std::fputs(
            "usage: ponk-box serve --home FOLDER\n"
            "Carries out runs for a ponk on another machine. Started by ponk, never by hand.\n",
            stderr);
        return box::misused;
    }
    ::signal(SIGPIPE, SIG_IGN);
    ::umask(077);
    box::look_up_names_in_files();
    try {
        const auto served = box::serve(argv[3]);
        return served ? 0 : box::say(served.error());
    } catch (const std::exception& problem) {
        return box::say(Error(ErrorKind::internal, problem.what()));
    }
}
