// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/remote/agent_calls.hpp"

namespace ponk::executor::remote {

// The environments that the machines of one type of target keep: what the Executor's calls of these
// names answer, asked of every machine that runs were given to. Any thread may call.
class RemoteEnvironments {
public:
    RemoteEnvironments(const Options& options, AgentCalls& calls) : options_(options), calls_(calls)
    {
    }

    Result<EnvironmentList> list(const std::stop_token& stop);
    Result<std::string>
    lock(const std::string& machine, const std::string& id, const std::stop_token& stop);
    Result<EnvironmentRemoval>
    remove(const std::string& machine, const std::string& id, const std::stop_token& stop);
    Result<EnvironmentGarbage> collect_garbage(const EnvironmentRules& rules,
                                               const std::stop_token& stop);

private:
    [[nodiscard]] Result<HostAddress> host_named(const std::string& machine) const;
    // A machine whose host key nobody knows any more was detached: no target leads there, and what
    // it keeps is no affair of ours until one does.
    [[nodiscard]] bool was_given_up(const HostAddress& host, const Error& error) const;

    const Options& options_;
    AgentCalls& calls_;
};

}  // namespace ponk::executor::remote
