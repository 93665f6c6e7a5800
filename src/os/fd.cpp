// SPDX-License-Identifier: Apache-2.0
#include "os/fd.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::os {

void Fd::reset(int fd) noexcept
{
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
}

Result<Pipe> make_pipe()
{
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(errno, "create a pipe");
    return Pipe{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace ponk::os
