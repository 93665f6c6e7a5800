// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"

#include <string>
#include <vector>

namespace ponk::executor::slurm {

// Files of a task's folder.
constexpr const char* job_script_file = "job.sh";
constexpr const char* job_output_file = "slurm.out";  // what the job's own shell and Slurm say

// The name of a run's job, by which it is found when its number was lost.
std::string job_name(const RunId& run);

// What sbatch executes on the first node: it becomes the supervisor, or the process that watches
// the run's GPUs and starts the supervisor.
struct JobScript {
    std::string run;
    Path root;  // of the run's directory
    Path task;  // the task's folder in it
    Path stub;
    Path lease;    // a lock file to share, which keeps the run's environment; empty: none
    Path monitor;  // `ponk-gpu-monitor` is a role of this program; empty: the run has no GPUs
    std::vector<std::string> monitor_environment = {};
    // Variables that the configuration sets: those of the job do not replace them.
    std::vector<std::string> chosen_names = {};
};
std::string to_text(const JobScript& script);

// Words of sbatch that the target's file says.
std::vector<std::string> words_of(const model::SlurmSpec& slurm);
// All of them for the run.
std::vector<std::string> job_options(const Job& job);

// Variables of an allocation or of a login: those of the submitter's are not the job's.
bool belongs_to_allocation(std::string_view variable);

}  // namespace ponk::executor::slurm
