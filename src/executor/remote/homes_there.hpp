// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "base/time.hpp"
#include "executor/job/job.hpp"

#include <algorithm>
#include <map>

namespace ponk::executor::remote {

// Runs whose folder on the other machine is not to be seen although the machine answers: a disk is
// not mounted, say. Nothing is known of them until it is back. Any thread may call.
class HomesThere {
public:
    // True when it is time for a new look, less often the longer it lasts.
    bool missing(const RunDirectory& directory)
    {
        const auto runs = runs_.lock();
        auto& entry = (*runs)[directory.root().native()];
        if (Deadline::clock::now() < entry.next) return false;
        entry.next = after(entry.pause);
        entry.pause = std::min(entry.pause * 2, longest_pause);
        return true;
    }
    void found(const RunDirectory& directory) { runs_.lock()->erase(directory.root().native()); }

private:
    static constexpr std::chrono::milliseconds first_pause{1000};
    static constexpr std::chrono::milliseconds longest_pause{30'000};
    struct Entry {
        Deadline next{};
        std::chrono::milliseconds pause = first_pause;
    };
    Synced<std::map<std::string, Entry>> runs_;
};

}  // namespace ponk::executor::remote
