// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/run_directory/control_seal.hpp"
#include "executor/run_directory/run_files.hpp"
#include "executor/slurm/job_table.hpp"
#include "executor/slurm/slurm_notes.hpp"

#include <atomic>
#include <mutex>
#include <optional>

namespace ponk::executor::slurm {

// One run as its directory shows it and as Slurm tells it. What its supervisor wrote counts first;
// Slurm is asked now and then, and when there is reason to. Any thread may call.
class SlurmRun {
public:
    // Whether the job was submitted just now; else nothing is known of it yet.
    enum class Since { launch, earlier };

    // `visibility`: how long a record that a node wrote may take to be seen here.
    SlurmRun(RunDirectory directory,
             SealedFiles files,
             SlurmNote note,
             JobTable& table,
             std::chrono::milliseconds visibility,
             Since since);

    // The status now. Writes the record of an end that Slurm alone knows.
    Result<JobStatus> look(const std::stop_token& stop);
    // Slurm could not be asked when it should have been; nullopt: it could.
    [[nodiscard]] std::optional<Error> away() const;
    // The note of its job, where that became another one since the last call.
    std::optional<SlurmNote> take_news();
    // Somebody wants it to end: Slurm is asked soon.
    void expect_end() { is_hurried_ = true; }

private:
    Result<JobStatus> look_at_files(const std::stop_token& stop);
    Result<JobStatus> ended(RunReport report, const std::stop_token& stop);
    Result<JobStatus> judge(RunReport report, const std::stop_token& stop);
    Result<JobStatus> judge_end(const RunReport& report, const std::stop_token& stop);
    [[nodiscard]] JobStatus waiting(const RunReport& report) const;
    Result<> publish_end(const RunReport& report);
    Result<> ask(std::chrono::milliseconds oldest, const std::stop_token& stop);
    [[nodiscard]] bool is_over() const;
    [[nodiscard]] bool is_due(const RunReport& report);
    [[nodiscard]] std::string last_words() const;
    [[nodiscard]] bool was_asked_to_end() const;
    bool said_something_new();
    [[nodiscard]] bool has_settled() const;

    RunDirectory directory_;
    SealedFiles files_;
    SlurmNote note_;
    std::string name_;  // of its jobs
    JobTable& table_;
    std::chrono::milliseconds visibility_;
    mutable std::mutex mutex_;
    Deadline since_;
    Deadline last_question_{};
    std::atomic<bool> is_hurried_ = false;
    bool has_news_ = false;
    bool was_watched_ = false;
    std::optional<SlurmJob> known_;
    std::optional<Error> away_;
    std::optional<Deadline> over_since_;    // Slurm says that it is over, and there is no record
    std::optional<Deadline> record_since_;  // there is one, and Slurm may know more
    std::uint64_t said_ = 0;                // bytes of the job's own output that were seen
};

}  // namespace ponk::executor::slurm
