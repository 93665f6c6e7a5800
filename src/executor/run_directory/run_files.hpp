// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/control_seal.hpp"

#include <optional>

// What happened to a run, and whether it lives, are two questions. Its files on this machine answer
// the first; whoever knows answers the second.
namespace ponk::executor {

// What the files say.
struct RunReport {
    std::uint64_t log_length = 0;
    std::uint64_t journal_length = 0;
    std::int64_t started = 0;               // 0: they do not tell that the script has begun
    std::optional<model::ExitRecord> exit;  // how it ended
};
// Without `started` where there is no exit record: `read_processes` tells it.
Result<RunReport> read_report(const SealedFiles& files, const RunDirectory& directory);
// nullopt before the script has begun.
Result<std::optional<RunProcesses>> read_processes(const SealedFiles& files,
                                                   const RunDirectory& directory);

// Whether the run lives, as the kernel, an engine or a scheduler says.
struct Liveness {
    enum class State {
        open,  // it lives, is about to begin, or nobody has begun it yet
        gone,  // nothing of it will change any more; `reason` says why
    } state = State::open;
    std::string reason;  // of an open one: what keeps it from ending

    static Liveness gone(std::string reason) { return {State::gone, std::move(reason)}; }
};

// What both mean together. A report must have been read after the answer "gone" was given: what
// the run wrote at its last moment counts.
JobStatus status_of(const RunReport& report, const Liveness& liveness);

// Sets the lengths of log and journals.
void read_lengths(const RunDirectory& directory, JobStatus& status);
// True when `now` tells something that `seen` did not, or nothing new can come.
bool is_new(const JobStatus& now, const JobStatus& seen);

}  // namespace ponk::executor
