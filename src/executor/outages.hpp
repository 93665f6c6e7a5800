// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "base/time.hpp"
#include "executor/job/job.hpp"

#include <map>

namespace ponk::executor {

// Runs whose target did not answer a question about them, by their folder. Any thread may call.
class Outages {
public:
    void note(const Path& directory, std::string reason)
    {
        const auto runs = runs_.lock();
        auto& outage = (*runs)[directory.native()];
        if (outage.since == 0) outage.since = wall_milliseconds();
        outage.reason = std::move(reason);
    }
    void clear(const Path& directory) { runs_.lock()->erase(directory.native()); }

    [[nodiscard]] std::optional<Outage> find(const Path& directory) const
    {
        const auto runs = runs_.lock();
        const auto entry = runs->find(directory.native());
        if (entry == runs->end()) return std::nullopt;
        return entry->second;
    }

private:
    mutable Synced<std::map<std::string, Outage>> runs_;
};

}  // namespace ponk::executor
