// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/fields.hpp"
#include "base/time.hpp"
#include "executor/slurm/slurm_job.hpp"
#include "os/file.hpp"

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace ponk::executor::slurm {

using os::Path;

// Where Slurm's commands are, and how they find their cluster.
struct Installation {
    std::string folder;         // of sbatch
    std::string configuration;  // SLURM_CONF of who submitted; empty: the site's usual one

    static constexpr auto fields()
    {
        return std::tuple(field("folder", &Installation::folder),
                          field("configuration", &Installation::configuration));
    }
    friend auto operator<=>(const Installation&, const Installation&) = default;
};

// By PATH of `environment` ("K=V"), then in the usual places.
Result<Installation> find_slurm(const std::vector<std::string>& environment);

// Slurm's commands. Each call is one request to the cluster's controller, which serves everybody:
// callers are sparing. `unreachable` where the controller does not answer.
class SlurmClient {
public:
    explicit SlurmClient(Installation where) : where_(std::move(where)) {}

    // Returns the job's number. `options` are words of sbatch.
    Result<std::string>
    submit(const std::vector<std::string>& options, const Path& script, std::stop_token stop) const;

    // All jobs of this user that the controller remembers, by number.
    Result<SlurmJobs> list(std::stop_token stop) const;
    // Those with that name.
    Result<SlurmJobs> find_by_name(const std::string& name, std::stop_token stop) const;
    // How a job ended that the controller has forgotten, as the accounts know it. nullopt: they do
    // not, or there are none. Numbers are used again: another name is another job.
    Result<std::optional<SlurmJob>>
    find_in_accounts(const std::string& job, const std::string& name, std::stop_token stop) const;

    // Ends all jobs of that name, or removes them from the queue. None is a success.
    Result<> cancel(const std::string& name, std::stop_token stop) const;
    // SIGTERM for the first process of those that run.
    Result<> terminate(const std::string& name, std::stop_token stop) const;

    // What a command prints.
    Result<std::string> ask(std::vector<std::string> words, std::stop_token stop) const;

private:
    Installation where_;
};

}  // namespace ponk::executor::slurm
