// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/run_folders.hpp"
#include "snapshot/garbage.hpp"

#include <cstdint>
#include <functional>

namespace ponk::agent {

struct GarbageRules {
    std::int64_t now_ms = 0;           // wall clock
    std::chrono::hours keep{14 * 24};  // since an object or an ended run was last touched
    std::chrono::hours keep_when_full{24};
    std::uint64_t little_space = std::uint64_t{5} << 30;
    // Takes a run away with all that its target has of it, a container too.
    std::function<Result<>(const RunId& run)> remove;
};

// Removes runs whose log, record and outputs have long been with their daemon, then objects that no
// run of this machine needs. What a run needs, and what nobody fetched, stays, however full the
// disk is.
Result<snapshot::GarbageReport> collect_garbage(const Path& home,
                                                const snapshot::ObjectStore& objects,
                                                const RunFolders& runs,
                                                const GarbageRules& rules,
                                                const std::stop_token& stop);

// The same once a day, by one process at a time.
Result<> collect_garbage_if_due(const Path& home,
                                const snapshot::ObjectStore& objects,
                                const RunFolders& runs,
                                const std::function<Result<>(const RunId& run)>& remove,
                                const std::stop_token& stop);

}  // namespace ponk::agent
