// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"
#include "executor/local/stand_in.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "executor/run_directory/run_files.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace ponk::executor::local {

// One run on this machine as its directory and its processes show it. Any thread may call.
class LocalRun {
public:
    LocalRun(RunDirectory directory, SealedFiles files)
        : directory_(std::move(directory)), files_(std::move(files))
    {
    }

    // The status now. Stands in for the supervisor when it is gone.
    Result<JobStatus> look();

    struct Wake {
        std::vector<int> descriptors;  // of processes whose end matters
        Deadline at;
    };
    // When to look again although no file changed.
    Wake next_wake();

    // TERM for the supervisor, or for the run itself when it has none.
    Result<> ask_to_end();

    // After the end: pidfds of those who may have become our children when their parent died.
    std::vector<os::Fd> take_remains();

private:
    Result<Liveness> liveness();
    Result<Liveness> liveness_of_processes();
    Result<bool> find_processes();
    Result<bool> is_of_this_boot() const;
    bool is_supervised() const;
    std::string late_record();

    RunDirectory directory_;
    SealedFiles files_;
    std::mutex mutex_;
    std::optional<RunProcesses> processes_;
    std::optional<os::Fd> stub_;
    std::optional<os::Fd> guard_;
    std::unique_ptr<StandIn> stand_in_;
    std::optional<os::Fd> main_;
    std::optional<Deadline> record_due_;  // set once the script has ended
};

}  // namespace ponk::executor::local
