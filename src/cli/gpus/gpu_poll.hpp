// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "cli/client/daemon.hpp"

#include <memory>
#include <thread>

namespace ponk::cli {

// Asks for the GPUs of one target again and again, on a thread of its own: one machine that does
// not answer must not stop the view of the others.
class GpuPoll {
public:
    // An answer of POST /gpus, or why there is none.
    using Answer = Result<Json>;

    GpuPoll(Daemon daemon,
            os::Path project,
            std::string target,
            std::chrono::milliseconds interval);

    [[nodiscard]] const std::string& target() const noexcept { return target_; }
    // The newest, shared with nobody who writes; null before the first.
    [[nodiscard]] std::shared_ptr<const Answer> newest();

private:
    void poll(Daemon daemon, const std::stop_token& stop);

    os::Path project_;
    std::string target_;
    std::chrono::milliseconds interval_;
    Synced<std::shared_ptr<const Answer>> newest_;
    std::jthread thread_;
};

}  // namespace ponk::cli
