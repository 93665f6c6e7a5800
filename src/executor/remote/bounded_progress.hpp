// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"

#include <atomic>
#include <memory>

namespace ponk::executor::remote {

// Passes on what a host says about its work, up to an amount that no work needs: all of it is kept
// with the run. Any thread may call the result.
inline Progress bounded(Progress progress)
{
    constexpr std::uint64_t most_bytes = std::uint64_t{4} << 20;
    if (!progress) return progress;
    const auto said = std::make_shared<std::atomic<std::uint64_t>>(0);
    return [progress = std::move(progress), said](const std::string& line) {
        const auto size = line.size() + 1;
        const auto before = said->fetch_add(size);
        if (before + size <= most_bytes) {
            progress(line);
        } else if (before <= most_bytes) {
            progress("more output there than can be shown");
        }
    };
}

}  // namespace ponk::executor::remote
