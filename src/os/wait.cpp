// SPDX-License-Identifier: Apache-2.0
#include "os/wait.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <vector>

namespace ponk::os {

Bell::Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Bell::ring() const
{
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto put = ::write(fd_.get(), &one, sizeof one);
}

void Bell::silence() const
{
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(fd_.get(), &count, sizeof count);
}

namespace {

Result<std::size_t>
poll_all(std::span<const int> fds, short events, Deadline deadline, const std::stop_token& stop)
{
    using std::chrono::milliseconds;
    const Bell bell;
    const std::stop_callback on_stop(stop, [&bell] { bell.ring(); });
    std::vector<pollfd> polled;
    polled.reserve(fds.size() + 1);
    for (const int fd : fds)
        polled.push_back({fd, events, 0});
    polled.push_back({bell.fd(), POLLIN, 0});
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - Deadline::clock::now());
        const auto limit = std::clamp(left, milliseconds(0), milliseconds(60'000));
        const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(limit.count()));
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped while waiting");
        if (ready > 0) {
            for (std::size_t i = 0; i < fds.size(); ++i) {
                if (polled[i].revents != 0) return i;
            }
        }
        if (ready < 0 && errno != EINTR) return fail_errno(errno, "poll");
        if (ready == 0 && left <= limit) return fail(ErrorKind::timeout, "timed out");
    }
}

}  // namespace

Result<> wait_readable(int fd, Deadline deadline, std::stop_token stop)
{
    TRY(poll_all({&fd, 1}, POLLIN, deadline, stop));
    return {};
}

Result<> wait_writable(int fd, Deadline deadline, std::stop_token stop)
{
    TRY(poll_all({&fd, 1}, POLLOUT, deadline, stop));
    return {};
}

Result<std::size_t> wait_any(std::span<const int> fds, Deadline deadline, std::stop_token stop)
{
    return poll_all(fds, POLLIN, deadline, stop);
}

bool sleep_for(std::chrono::milliseconds span, std::stop_token stop)
{
    const auto waited = poll_all({}, POLLIN, after(span), stop);
    return waited || waited.error().kind() != ErrorKind::cancelled;
}

}  // namespace ponk::os
