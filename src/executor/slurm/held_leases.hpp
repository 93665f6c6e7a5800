// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "os/file_lock.hpp"

#include <map>
#include <string>

namespace ponk::executor::slurm {

// Shares of the locks that keep environments of packages, while jobs that use them wait or run:
// locks of other nodes are not seen everywhere. Any thread may call.
class HeldLeases {
public:
    void hold(const std::string& run, os::FileLock lease)
    {
        held_.lock()->insert_or_assign(run, std::move(lease));
    }
    // Where it lies. One that somebody removes now is gone.
    void take(const std::string& run, const os::Path& file)
    {
        std::error_code problem;
        if (!std::filesystem::exists(file, problem)) return;
        if (auto lock = os::FileLock::try_take(file, os::FileLock::Kind::shared); lock && *lock)
            hold(run, std::move(**lock));
    }
    void drop(const std::string& run) { held_.lock()->erase(run); }

private:
    Synced<std::map<std::string, os::FileLock>> held_;
};

}  // namespace ponk::executor::slurm
