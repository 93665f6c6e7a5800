// SPDX-License-Identifier: Apache-2.0
#include "ssh/child.hpp"

#include <csignal>
#include <sys/wait.h>
#include <utility>

namespace ponk::ssh {

Child::Child(os::Child process, os::Fd input, os::Fd output, os::Fd errors)
    : in(std::move(input)), out(std::move(output)), err(std::move(errors)),
      process_(std::move(process))
{
}

Child::~Child()
{
    kill();
}

Child::Child(Child&& other) noexcept
    : in(std::move(other.in)), out(std::move(other.out)),
      err(std::move(other.err)), process_{std::exchange(other.process_.pid, -1),
                                          std::move(other.process_.pidfd)}
{
}

Child& Child::operator=(Child&& other) noexcept
{
    if (this == &other) return *this;
    kill();
    in = std::move(other.in);
    out = std::move(other.out);
    err = std::move(other.err);
    process_.pid = std::exchange(other.process_.pid, -1);
    process_.pidfd = std::move(other.process_.pidfd);
    return *this;
}

Result<os::Exit> Child::wait(Deadline deadline, std::stop_token stop)
{
    if (process_.pid < 0) return fail(ErrorKind::internal, "the process was waited for already");
    auto exit = os::wait_for_exit(process_, deadline, std::move(stop));
    process_.pid = -1;
    return exit;
}

void Child::kill()
{
    if (process_.pid < 0) return;
    ::kill(process_.pid, SIGKILL);
    ::waitpid(process_.pid, nullptr, 0);
    process_.pid = -1;
}

}  // namespace ponk::ssh
