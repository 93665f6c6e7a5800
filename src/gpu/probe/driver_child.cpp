// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/driver_child.hpp"

#include "base/text.hpp"
#include "os/wait.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ponk::gpu {

using namespace std::chrono_literals;

Result<> DriverChild::start(const std::vector<std::string>& words,
                            const std::vector<std::string>& environment)
{
    kill();
    if (stuck_.pid >= 0) {
        if (!os::find_exit(stuck_.pidfd.get()))
            return tl::unexpected(
                Error(ErrorKind::unavailable,
                      "the GPU driver does not answer and blocks the process that asked it",
                      "'sudo dmesg' may show the reason; usually the machine must be restarted."));
        os::reap(stuck_.pidfd.get());
        stuck_ = os::Child();
    }
    int ends[2];
    // A socket, not a pipe: writing to one whose reader died must not raise a signal.
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return fail_errno(errno, "start '{}'", printable(words.front()));
    os::Fd input(ends[0]);
    const os::Fd theirs(ends[1]);
    auto output = TRY(os::make_pipe());
    const auto nowhere = TRY(os::open_file("/dev/null", O_WRONLY));
    child_ = TRY(os::spawn(
        {.argv = words,
         .env = environment,
         .directory = "/",
         .session = os::Command::Session::own,
         .descriptors = {{theirs.get(), 0}, {output.write.get(), 1}, {nowhere.get(), 2}}}));
    ::fcntl(output.read.get(), F_SETFL, O_NONBLOCK);
    input_ = std::move(input);
    output_ = std::move(output.read);
    return {};
}

bool DriverChild::send(std::string_view bytes)
{
    const auto sent = ::send(input_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent == static_cast<ssize_t>(bytes.size());
}

Result<bool> DriverChild::read(std::string& out, Deadline deadline, const std::stop_token& stop)
{
    while (true) {
        TRY(os::wait_readable(output_.get(), deadline, stop));
        char block[65536];
        const auto got = ::read(output_.get(), block, sizeof block);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return false;
        out.append(block, static_cast<std::size_t>(got));
        return true;
    }
}

std::optional<os::Exit> DriverChild::wait(Deadline deadline, const std::stop_token& stop) const
{
    if (!os::wait_readable(child_.pidfd.get(), deadline, stop)) return std::nullopt;
    return os::find_exit(child_.pidfd.get());
}

void DriverChild::kill()
{
    input_.reset();
    output_.reset();
    if (child_.pid < 0) return;
    // Its session: a wrapper script has children.
    ::kill(-child_.pid, SIGKILL);
    ::kill(child_.pid, SIGKILL);
    if (os::wait_readable(child_.pidfd.get(), after(200ms), {}))
        os::reap(child_.pidfd.get());
    else
        stuck_ = std::move(child_);
    child_ = os::Child();
}

}  // namespace ponk::gpu
