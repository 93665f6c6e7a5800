// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/interrupt.hpp"

#include "base/time.hpp"
#include "os/wait.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace ponk::cli {
namespace {

void consume(int fd)
{
    signalfd_siginfo info{};
    [[maybe_unused]] const auto got = ::read(fd, &info, sizeof info);
}

}  // namespace

Interrupts::Interrupts()
{
    struct sigaction action {};
    ::sigaction(SIGINT, nullptr, &action);
    ::pthread_sigmask(SIG_BLOCK, nullptr, &before_);
    // A signal that is blocked is queued even when it is ignored, so it must not be blocked then.
    if (action.sa_handler == SIG_IGN) return;
    sigset_t interrupt;
    ::sigemptyset(&interrupt);
    ::sigaddset(&interrupt, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &interrupt, &before_);
    signals_ = os::Fd(::signalfd(-1, &interrupt, SFD_CLOEXEC | SFD_NONBLOCK));
    watcher_ = std::jthread([this](const std::stop_token& end) {
        while (!end.stop_requested()) {
            const auto ready = os::wait_readable(signals_.get(), after(std::chrono::hours(1)), end);
            if (!ready) continue;
            consume(signals_.get());
            stop_.request_stop();
            return;  // the next one is for again_within
        }
    });
}

Interrupts::~Interrupts()
{
    watcher_.request_stop();
    if (watcher_.joinable()) watcher_.join();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Interrupts::again_within(std::chrono::milliseconds span)
{
    if (!signals_ || !os::wait_readable(signals_.get(), after(span), {})) return false;
    consume(signals_.get());
    return true;
}

}  // namespace ponk::cli
