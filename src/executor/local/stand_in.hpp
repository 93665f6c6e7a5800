// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/hash.hpp"
#include "executor/job/job.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "os/fd.hpp"
#include "os/process.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ponk::executor::local {

// A living process of a run, held so that a signal can hit no other.
struct RunProcess {
    pid_t pid = 0;
    os::Fd pidfd;
};

// By what a process is known to belong to a run.
struct RunMarks {
    std::string token;  // in its environment
    pid_t session = 0;  // together with the log that it writes to
    Path log;
    std::string cgroup;  // the run's own control group; empty: none
};

// Whoever shows none of the marks is not touched. Orphans of the session that have ended are taken
// away, but not `main`: as long as its remains are there its code can be asked for.
std::vector<RunProcess> find_run_processes(const RunMarks& marks, pid_t main);

// Does the supervisor's work for one run whose supervisor was killed: watches the script, keeps to
// its time limit, ends what is left of it and publishes the exit record. Not thread-safe.
class StandIn {
public:
    // `main` is the script's pidfd, or none when that process is gone already.
    StandIn(Path directory, SealedFiles files, RunProcesses processes, std::optional<os::Fd> main);

    enum class Progress {
        running,    // look again when `wait_for` is readable or at `look_again`
        published,  // the exit record is there
        unknown     // the run is over and its code cannot be known
    };
    // Does what can be done now, without waiting.
    Result<Progress> step();

    [[nodiscard]] int wait_for() const { return main_ && !ended_ ? main_->get() : -1; }
    [[nodiscard]] Deadline look_again() const { return look_again_; }
    [[nodiscard]] const std::string& reason() const { return reason_; }

private:
    [[nodiscard]] std::vector<RunProcess> processes() const;
    void keep_limits();
    bool learn_end();
    void note_early_end() const;
    bool survivors_are_gone();
    Result<bool> hash_log();
    Result<> publish();

    Path directory_;
    SealedFiles files_;
    RunProcesses processes_;
    StubSpec spec_;
    std::optional<os::Fd> main_;
    std::optional<os::Exit> exit_;
    bool ended_ = false;
    std::int64_t ended_at_ = 0;    // wall clock
    std::int64_t ended_boot_ = 0;  // when we learned of it
    bool end_was_noted_ = false;   // by the supervisor, before it was killed
    Deadline code_deadline_{};
    std::string cause_ = "script";
    std::optional<Deadline> kill_at_;
    std::optional<Deadline> patience_;
    std::int64_t survivors_ = 0;
    std::int64_t unkillable_ = 0;
    Sha256 hash_;
    std::uint64_t holes_ = 0;      // bytes of the log that were never written
    std::uint64_t holes_end_ = 0;  // of the last of them
    std::uint64_t hashed_ = 0;
    Deadline look_again_{};
    std::string reason_;
};

}  // namespace ponk::executor::local
