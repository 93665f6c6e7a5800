// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.hpp"
#include "os/process.hpp"

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::gpu {

// A process that asks a driver for us, in a session of its own. A driver may keep it for ever, also
// against a kill: nothing here waits for that. One thread.
class DriverChild {
public:
    DriverChild() = default;
    ~DriverChild() { kill(); }
    DriverChild(const DriverChild&) = delete;
    DriverChild& operator=(const DriverChild&) = delete;

    // `unavailable` while one that was killed before still hangs in the driver.
    Result<> start(const std::vector<std::string>& words,
                   const std::vector<std::string>& environment);
    [[nodiscard]] bool is_started() const noexcept { return child_.pid >= 0; }

    // False when it does not read any more.
    bool send(std::string_view bytes);
    // It gets no more input.
    void end_input() { input_.reset(); }
    // Appends what it wrote to `out`; false at the end of its output.
    Result<bool> read(std::string& out, Deadline deadline, const std::stop_token& stop);
    // How it ended, after the end of its output; nullopt when it did not, by the deadline.
    std::optional<os::Exit> wait(Deadline deadline, const std::stop_token& stop) const;

    void kill();

private:
    os::Child child_;  // pid -1: none
    os::Child stuck_;  // killed, and not gone
    os::Fd input_;
    os::Fd output_;
};

}  // namespace ponk::gpu
