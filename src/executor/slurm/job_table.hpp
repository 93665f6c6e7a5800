// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "executor/slurm/slurm_client.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace ponk::executor::slurm {

// The jobs of this user as the controllers told them, one request for all of a cluster: asked again
// only when somebody needs to know better. Any thread may call; while one asks, the others wait for
// the same answer.
class JobTable {
public:
    struct Answer {
        std::optional<SlurmJob> job;  // nullopt: the controller does not know it
        Deadline asked;
    };
    // What was known `oldest` ago or later. `unreachable` when that cannot be had.
    Result<Answer> find(const Installation& where,
                        const std::string& job,
                        std::chrono::milliseconds oldest,
                        const std::stop_token& stop);

private:
    struct Cluster {
        std::mutex mutex;
        Deadline asked{};
        std::map<std::string, SlurmJob> jobs;
        std::optional<Error> failed;  // the last request
    };
    Synced<std::map<Installation, std::shared_ptr<Cluster>>> clusters_;
};

}  // namespace ponk::executor::slurm
