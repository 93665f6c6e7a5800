// SPDX-License-Identifier: Apache-2.0
#include "executor/supervisor/stub_start.hpp"

#include "base/text.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/process.hpp"
#include "os/wait.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor {

using namespace std::chrono_literals;

namespace {

// Bytes that a child can read and no disk ever sees.
Result<os::Fd> in_memory(std::string_view bytes)
{
    os::Fd fd(::memfd_create("environment", MFD_CLOEXEC));
    if (!fd) return fail_errno(errno, "get memory for the environment");
    TRY(os::write_all(fd.get(), bytes));
    ::lseek(fd.get(), 0, SEEK_SET);
    return fd;
}

// What the supervisor says about its start; empty when it died without a word.
Result<std::string> read_report(const os::Fd& from, std::stop_token stop)
{
    std::string said;
    const auto deadline = after(60s);
    while (!said.ends_with('\n')) {
        TRY(os::wait_readable(from.get(), deadline, stop));
        char block[1024];
        const auto got = ::read(from.get(), block, sizeof block);
        if (got < 0 && errno != EINTR) return fail_errno(errno, "read the supervisor's answer");
        if (got == 0) break;
        said.append(block, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    return std::string(trim(said));
}

// The lock that a supervisor takes before it claims the run; nullopt while one has it.
Result<std::optional<os::Fd>> take_lock(const Path& directory)
{
    auto lock = TRY(os::open_file(directory / control::lock, O_RDWR | O_CREAT | O_NOFOLLOW));
    struct flock whole {};
    whole.l_type = F_WRLCK;
    if (::fcntl(lock.get(), F_OFD_SETLK, &whole) != 0) return std::nullopt;
    return lock;
}

}  // namespace

Result<std::string> start_stub(const StubStart& start, const Adopt& adopt, std::stop_token stop)
{
    const auto null = TRY(os::open_file("/dev/null", O_RDWR));
    const auto memory = TRY(in_memory(start.environment));
    auto report = TRY(os::make_pipe());
    os::Command command{.argv = {start.name.empty() ? start.program.string() : start.name,
                                 start.directory.string(),
                                 "3",
                                 "4"},
                        .env = start.own_environment,
                        .descriptors = {{null.get(), 0},
                                        {null.get(), 1},
                                        {null.get(), 2},
                                        {memory.get(), 3},
                                        {report.write.get(), 4}},
                        .program = start.program.string()};
    if (start.lease >= 0) {
        command.argv.emplace_back("5");
        command.descriptors.emplace_back(start.lease, 5);
    }
    auto child = TRY(os::spawn(command));
    report.write.reset();
    adopt(std::move(child.pidfd));
    return read_report(report.read, stop);
}

Result<bool> withdraw_claim(const Path& directory)
{
    const auto lock = TRY(take_lock(directory));
    if (!lock) return false;
    if (is_there(directory / control::pid) || is_there(directory / control::exit)) return false;
    ::rmdir((directory / control::claim).c_str());
    return true;
}

Result<std::optional<os::Fd>> claim_start(const Path& directory)
{
    auto lock = TRY(take_lock(directory));
    // With the lock in hand a claim that is there is a dead one's, or was made here before.
    if (lock && ::mkdir((directory / control::claim).c_str(), 0700) != 0 && errno != EEXIST)
        return fail_errno(errno, "claim the run");
    return lock;
}

}  // namespace ponk::executor
