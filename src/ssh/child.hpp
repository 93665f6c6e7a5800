// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/process.hpp"

namespace ponk::ssh {

// A program on the host: our end of its standard streams and the local process that carries them.
// Owned by one thread at a time. Letting go of it ends the local process; the one on the host sees
// its input end.
class Child {
public:
    Child() = default;
    Child(os::Child process, os::Fd in, os::Fd out, os::Fd err);
    ~Child();
    Child(Child&& other) noexcept;
    Child& operator=(Child&& other) noexcept;
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    os::Fd in;   // what it reads; close it and it sees the end
    os::Fd out;  // what it writes, from its own first byte on
    os::Fd err;  // what it and ssh say

    // Readable once the local process has ended.
    [[nodiscard]] int pidfd() const noexcept { return process_.pidfd.get(); }
    // How the program ended; 255 is ssh's own word for a connection that broke. Kills the local
    // process when stopped or past the deadline. Once.
    Result<os::Exit> wait(Deadline deadline, std::stop_token stop);
    // Ends the local process now.
    void kill();

private:
    os::Child process_;
};

}  // namespace ponk::ssh
