// SPDX-License-Identifier: Apache-2.0
#include "cli/gpus/gpu_poll.hpp"

#include "cli/gpus/gpu_devices.hpp"
#include "os/wait.hpp"

namespace ponk::cli {

GpuPoll::GpuPoll(Daemon daemon,
                 os::Path project,
                 std::string target,
                 std::chrono::milliseconds interval)
    : project_(std::move(project)), target_(std::move(target)), interval_(interval),
      thread_([this, own = std::move(daemon)](const std::stop_token& stop) mutable {
          poll(std::move(own), stop);
      })
{
}

std::shared_ptr<const GpuPoll::Answer> GpuPoll::newest()
{
    return *newest_.lock();
}

void GpuPoll::poll(Daemon daemon, const std::stop_token& stop)
{
    do {
        const auto begin = Deadline::clock::now();
        auto answer = std::make_shared<const Answer>(ask_gpus(daemon, project_, target_, stop));
        *newest_.lock() = std::move(answer);
        const auto spent =
            std::chrono::duration_cast<std::chrono::milliseconds>(Deadline::clock::now() - begin);
        if (!os::sleep_for(std::max(interval_ - spent, std::chrono::milliseconds(20)), stop))
            return;
    } while (!stop.stop_requested());
}

}  // namespace ponk::cli
