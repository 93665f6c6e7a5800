// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "base/synced.hpp"
#include "gpu/probe/probe.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace ponk::executor {

// The GPUs of this machine for people who look at them, once or every second: the probe stays open
// for a while after each look, since a driver may take seconds to start. Any thread.
class GpuLook {
public:
    // Programs of ours are below `lib`.
    explicit GpuLook(os::Path lib);
    ~GpuLook();
    GpuLook(const GpuLook&) = delete;
    GpuLook& operator=(const GpuLook&) = delete;

    // As docs/design/gpu.md describes it ("GPUs for people"). `environment` ("K=V") finds programs.
    Result<Json> look(const std::vector<std::string>& environment, const std::stop_token& stop);

private:
    struct Open {
        std::unique_ptr<gpu::Probe> probe;
        std::vector<std::string> environment;
    };
    struct Kept {
        Open open;
        Deadline unused_since;
        bool closing = false;  // the thread lives
        std::jthread closer;
    };

    Result<Open> take(const std::vector<std::string>& environment, const std::stop_token& stop);
    void give_back(Open open);
    void close_when_unused(const std::stop_token& stop);

    os::Path lib_;
    Synced<Kept> kept_;
};

}  // namespace ponk::executor
