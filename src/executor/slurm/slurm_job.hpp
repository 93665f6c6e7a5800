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
    std::string name;

    // It is in the queue and on no machine.
    [[nodiscard]] bool is_waiting() const;
    // Nothing of it will run any more.
    [[nodiscard]] bool is_over() const;
    // Of several jobs of a run the one that is worth most counts.
    [[nodiscard]] int worth() const;

    friend bool operator==(const SlurmJob&, const SlurmJob&) = default;
};

// By number.
using SlurmJobs = std::map<std::string, SlurmJob>;

// "NUMBER|STATE|NODES|NAME" lines, as squeue and sacct print them on request, and perhaps
// "|REASON". Others are passed over: sites put words of their own before the output.
SlurmJobs parse_jobs(std::string_view text);

// The one of a run's jobs that counts: one that runs, else one that waits, else one that Slurm has
// ended, else the last. A request whose answer was lost may have been accepted, and repeated.
// Empty: there is none.
std::string number_of_best(const SlurmJobs& jobs);

// The number in what `sbatch --parsable` prints: "12" or "12;cluster"; empty when there is none.
std::string parse_sbatch(std::string_view text);

// Why Slurm ended a job, in the words of an exit record; empty where that was not its doing.
std::string cause_of(const SlurmJob& job);
// A sentence about the job for people.
std::string describe(const std::string& number, const SlurmJob& job);

}  // namespace ponk::executor::slurm
