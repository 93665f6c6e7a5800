// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "executor/remote/agent_calls.hpp"
#include "executor/run_directory/control_seal.hpp"

#include <set>
#include <string>

namespace ponk::executor::remote {

// Keeps our copies of runs' logs, journals and ends up to date. Any thread may call, one at a time
// for each run.
class FollowRun {
public:
    explicit FollowRun(AgentCalls& calls) : calls_(calls) {}

    // One question, which the machine may keep open until the deadline.
    Result<JobStatus> once(const std::string& job,
                           const SealedFiles& files,
                           const RunDirectory& directory,
                           const JobStatus& seen,
                           Deadline deadline,
                           const std::stop_token& stop);

private:
    Result<> finish_end(const std::string& job,
                        const SealedFiles& files,
                        const RunDirectory& directory,
                        const Json& head,
                        JobStatus& status);

    AgentCalls& calls_;
    Synced<std::set<std::string>> again_;  // runs whose log is fetched a second time
};

}  // namespace ponk::executor::remote
