// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/capabilities.hpp"
#include "executor/job/job.hpp"

namespace ponk::executor {

// A place where runs execute: this host, a Docker engine, a Slurm cluster…
//
// Implementations are safe to call from several threads. Calls may block; each returns `cancelled`
// soon after `stop` is requested. Each returns `unreachable` when the target, or whoever there
// knows the job, cannot be asked now: that says nothing about the job, and the call may be
// repeated. A handle is plain text that `launch` returns; it is stored with the run, so that a
// restarted daemon finds the job again.
class Executor {
public:
    virtual ~Executor() = default;

    // Brings the tree to the target and makes the environment ready. Repeating it is harmless.
    virtual Result<Staged>
    stage(const Job& job, const Progress& progress, std::stop_token stop) = 0;

    // Returns once the target has accepted the job. Launching the same run again returns the job
    // that is there already: a retry after a lost reply or a crash never starts a second one.
    virtual Result<std::string> launch(const Job& job, std::stop_token stop) = 0;

    // Brings our copy of log, journals and exit record up to date and returns the status; blocks
    // until something is new since `seen` or the deadline has passed (which is not an error).
    virtual Result<JobStatus> sync(const std::string& handle,
                                   const RunDirectory& directory,
                                   const JobStatus& seen,
                                   Deadline deadline,
                                   std::stop_token stop) = 0;

    // Asks the job to end, kills it after `grace`. Returns at once; sync reports the end. A job
    // that is gone is a success. One that has not begun never begins: sync then says `ended` with
    // cause "cancel", or stays at `starting` for ever when the target never heard of it.
    virtual Result<> cancel(const std::string& handle,
                            const RunDirectory& directory,
                            std::chrono::seconds grace) = 0;

    // After the end: brings `outputs/` home.
    virtual Result<Collected> collect(const std::string& handle,
                                      const RunDirectory& directory,
                                      const BeforeStoring& before,
                                      std::stop_token stop) = 0;

    // Removes the run's tree and control files from the target (our copy of the log stays).
    virtual Result<> clean(const std::string& handle, const RunDirectory& directory) = 0;

    // Gives the run's relay the answer to a call of the script (docs/design/relay.md): `name` is
    // the call's.
    virtual Result<> deliver(const std::string& handle,
                             const RunDirectory& directory,
                             const std::string& name,
                             std::string answer);

    // What this kind of target offers besides; null: nothing of it.
    virtual Environments* environments() { return nullptr; }
    virtual Machine* machine() { return nullptr; }
    virtual WorkingCopies* working_copies() { return nullptr; }
};

}  // namespace ponk::executor
