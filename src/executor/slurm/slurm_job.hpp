// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace ponk::executor::slurm {

// A job as Slurm tells it.
struct SlurmJob {
    std::string state;   // "PENDING", "RUNNING", "NODE_FAIL" …
    std::string reason;  // why it waits, "None" where there is nothing to say
    std::string nodes;

    // It is in the queue and on no machine.
    [[nodiscard]] bool is_waiting() const;
    // Nothing of it will run any more.
    [[nodiscard]] bool is_over() const;

    friend bool operator==(const SlurmJob&, const SlurmJob&) = default;
};

// "NUMBER|STATE|NODES|REASON" lines, as squeue and sacct print them on request, by the job's
// number. Others are passed over: sites put words of their own before the output.
std::map<std::string, SlurmJob> parse_jobs(std::string_view text);

// The one of a run's jobs that counts: one that is not over, where there is one. A request that was
// lost on its way may have been accepted, and repeated. Empty: there is none.
std::string number_of_living(const std::map<std::string, SlurmJob>& jobs);

// The number in what `sbatch --parsable` prints: "12" or "12;cluster"; empty when there is none.
std::string parse_sbatch(std::string_view text);

// Why Slurm ended a job, in the words of an exit record; empty where that was not its doing.
std::string cause_of(const SlurmJob& job);
// A sentence about the job for people.
std::string describe(const std::string& number, const SlurmJob& job);

}  // namespace ponk::executor::slurm
