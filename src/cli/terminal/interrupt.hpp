// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/fd.hpp"

#include <chrono>
#include <csignal>
#include <stop_token>
#include <thread>

namespace ponk::cli {

// Turns Ctrl-C into a stop token while it lives; other threads must be started after it. When the
// parent had us ignore SIGINT (nohup, a job in the background), it stays ignored.
class Interrupts {
public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    // Stopped at the first Ctrl-C.
    [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
    [[nodiscard]] bool happened() const { return stop_.stop_requested(); }
    // After the first: whether another comes within `span`.
    bool again_within(std::chrono::milliseconds span);

private:
    sigset_t before_{};
    os::Fd signals_;
    std::stop_source stop_;
    std::jthread watcher_;
};

}  // namespace ponk::cli
