// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/run_directory/control_seal.hpp"
#include "executor/run_directory/run_files.hpp"
#include "executor/slurm/job_table.hpp"
#include "executor/slurm/slurm_notes.hpp"

#include <mutex>
#include <optional>

namespace ponk::executor::slurm {

// One run as its directory shows it and as Slurm tells it. What its supervisor wrote counts first;
// Slurm is asked now and then, and when there is reason to. Any thread may call.
class SlurmRun {
public:
    // `visibility`: how long a record that a node wrote may take to be seen here.
    SlurmRun(RunDirectory directory,
             SealedFiles files,
             SlurmNote note,
             JobTable& table,
             std::chrono::milliseconds visibility);

    // The status now. Writes the record of an end that Slurm alone knows.
    Result<JobStatus> look(const std::stop_token& stop);
    // Slurm could not be asked when it should have been; nullopt: it could.
    [[nodiscard]] std::optional<Error> away() const;
    // Somebody wants it to end: Slurm is asked soon.
    void expect_end();

private:
    Result<JobStatus> look_at_files(const std::stop_token& stop);
    Result<JobStatus> ended(RunReport report, const std::stop_token& stop);
    Result<JobStatus> judge(RunReport report, const std::stop_token& stop);
    Result<> publish_end(const SlurmJob& job, const RunReport& report);
    Result<std::optional<SlurmJob>> ask(std::chrono::milliseconds oldest,
                                        const std::stop_token& stop);
    [[nodiscard]] std::chrono::milliseconds pause() const;
    [[nodiscard]] std::string last_words() const;
    Result<bool> is_another_job(const std::stop_token& stop);
    bool said_something_new();
    bool has_settled();

    RunDirectory directory_;
    SealedFiles files_;
    SlurmNote note_;
    JobTable& table_;
    std::chrono::milliseconds visibility_;
    mutable std::mutex mutex_;
    Deadline since_;
    Deadline next_question_;
    Deadline last_question_{};
    std::optional<SlurmJob> known_;
    std::optional<Error> away_;
    std::optional<Deadline> over_since_;  // Slurm says that it is over, and there is no record
    std::uint64_t said_ = 0;              // bytes of the job's own output that were seen
};

}  // namespace ponk::executor::slurm
