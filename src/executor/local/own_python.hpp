// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "executor/job/job.hpp"

#include <map>
#include <optional>
#include <string>

namespace ponk::executor::local {

// The user's own Python, whose packages are theirs: looked for as a run would, and started once.
Result<Examination> examine_own_python(const Job& job, std::stop_token stop);

// How environments differed from locks when that was last looked at: a lock may take longer to read
// than a run to start. Any thread may call.
class LockComparisons {
public:
    // Empty: it does not differ, or there is no lock.
    std::string of(const Job& job, const EnvironmentUsed& used);

private:
    struct Known {
        std::string state;  // of both, when they were compared
        std::string difference;
    };
    Synced<std::map<std::string, Known>> known_;
};

// What it has, for the record. A Python that does not answer is not an obstacle: notices say so.
// nullopt where there is none, which a run of another program does not need.
std::optional<EnvironmentUsed> describe_own_python(const Path& home,
                                                   const Job& job,
                                                   LockComparisons& comparisons,
                                                   Notices& notices,
                                                   std::stop_token stop);

}  // namespace ponk::executor::local
