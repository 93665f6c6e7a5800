// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "os/fd.hpp"

#include <span>
#include <stop_token>

// The one way to wait: every wait has a deadline and ends when asked to stop.
namespace ponk::os {

// An eventfd: lets another thread end a poll.
class Bell {
public:
    Bell();
    void ring() const;
    void silence() const;
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

private:
    Fd fd_;
};

// Waits until `fd` is readable (or closed by the other side).
Result<> wait_readable(int fd, Deadline deadline, std::stop_token stop);
Result<> wait_writable(int fd, Deadline deadline, std::stop_token stop);
// Waits until one of several is readable and returns its index.
Result<std::size_t> wait_any(std::span<const int> fds, Deadline deadline, std::stop_token stop);
// False when stopped before the time was over.
bool sleep_for(std::chrono::milliseconds span, std::stop_token stop);

}  // namespace ponk::os
