// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "executor/slurm/slurm_client.hpp"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace ponk::executor::slurm {

// The jobs of this user as the controllers told them, one request for all of a cluster: asked again
// only when somebody needs to know better. Any thread may call; while one asks, the others wait for
// the same answer. A controller that does not answer is left alone for a while.
class JobTable {
public:
    // The jobs of that name, as they were known `oldest` ago or later. `unreachable` when that
    // cannot be had.
    Result<SlurmJobs> find(const Installation& where,
                           const std::string& name,
                           std::chrono::milliseconds oldest,
                           const std::stop_token& stop);

private:
    struct Cluster {
        std::mutex mutex;  // of all below; never held while Slurm is asked
        std::condition_variable_any answered;
        bool is_asked = false;  // now
        Deadline asked{};
        SlurmJobs jobs;
        std::optional<Error> failed;  // the last request
        int failures = 0;             // one after another
    };

    static void ask(Cluster& cluster,
                    std::unique_lock<std::mutex>& lock,
                    const Installation& where,
                    const std::stop_token& stop);

    Synced<std::map<Installation, std::shared_ptr<Cluster>>> clusters_;
};

}  // namespace ponk::executor::slurm
