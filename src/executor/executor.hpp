// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"

namespace ponk::executor {

// A place where runs execute: this host, a Docker engine, a Slurm cluster…
//
// Implementations are safe to call from several threads. Calls may block; each returns `cancelled`
// soon after `stop` is requested and `unavailable` when the target cannot be reached. A handle
// is plain text that `launch` returns; it is stored with the run, so that a restarted daemon finds
// the job again.
class Executor {
public:
    virtual ~Executor() = default;

    // Brings the tree to the target and makes the environment ready. Repeating it is harmless.
    virtual Result<Staged>
    stage(const Job& job, const Progress& progress, std::stop_token stop) = 0;

    // After `stage` has failed: it might succeed with a login for the image's registry, which the
    // job does not have.
    virtual bool wants_login(const Job& /*job*/, std::stop_token /*stop*/) { return false; }

    // Brings the tree as `stage` does and tells what else `stage` would have to do; builds and
    // pulls nothing. `clean` removes what it brought.
    virtual Result<Examination> examine(const Job& job, std::stop_token stop) = 0;

    // Returns once the target has accepted the job. Launching the same run again returns the job
    // that is there already: a retry after a lost reply or a crash never starts a second one.
    virtual Result<std::string> launch(const Job& job, std::stop_token stop) = 0;

    // Brings our copy of log, journals and exit record up to date and returns the status; blocks
    // until something is new since `seen` or the deadline has passed (which is not an error).
    virtual Result<JobStatus> sync(const std::string& handle,
                                   const Path& directory,
                                   const JobStatus& seen,
                                   Deadline deadline,
                                   std::stop_token stop) = 0;

    // Asks the job to end, kills it after `grace`. Returns at once; sync reports the end. A job
    // that is gone is a success. One that has not begun never begins: sync then says `ended` with
    // cause "cancel", or stays at `starting` for ever when the target never heard of it.
    virtual Result<>
    cancel(const std::string& handle, const Path& directory, std::chrono::seconds grace) = 0;

    // Gives the run's relay the answer to a call of the script (docs/design/relay.md): `name` is
    // the call's.
    virtual Result<> deliver(const std::string& handle,
                             const Path& directory,
                             const std::string& name,
                             std::string answer);

    // After the end: brings `outputs/` home.
    virtual Result<Collected> collect(const std::string& handle,
                                      const Path& directory,
                                      const BeforeStoring& before,
                                      std::stop_token stop) = 0;

    // Brings the working copy of a run whose files are on another machine, as it is now, into our
    // store (whose lease the caller holds); nullopt: it is `work/` of `directory`.
    virtual Result<std::optional<Digest>>
    fetch_work(const std::string& /*handle*/, const Path& /*directory*/, std::stop_token /*stop*/)
    {
        return std::nullopt;
    }

    // False when it is plain without asking anybody that `collect` would bring nothing.
    [[nodiscard]] virtual bool may_have_outputs(const Path& /*directory*/) const { return true; }

    // Set while the run's target cannot be reached. Asks nobody.
    [[nodiscard]] virtual std::optional<Outage> outage(const Path& /*directory*/) const
    {
        return std::nullopt;
    }

    // What the target is and has, for people who set it up: docs/design/api.md, "A check".
    virtual Result<Json> facts(const FactsRequest& /*request*/, std::stop_token /*stop*/)
    {
        return fail(ErrorKind::unavailable, "targets of this type cannot be checked");
    }

    // The target's GPUs, who uses them and how much: docs/design/gpu.md, "GPUs for people".
    virtual Result<Json> gpus(const FactsRequest& /*request*/, std::stop_token /*stop*/)
    {
        return fail(ErrorKind::unavailable, "GPUs of targets of this type cannot be listed");
    }

    // Removes the run's tree and control files from the target (our copy of the log stays).
    virtual Result<> clean(const std::string& handle, const Path& directory) = 0;

    // The environments that this kind of target keeps on its machines. What a run holds, or
    // somebody builds, is never removed.
    virtual Result<EnvironmentList> environments(std::stop_token /*stop*/)
    {
        return EnvironmentList();
    }
    // The text of an environment's lock. `machine` is the entry's.
    virtual Result<std::string>
    environment_lock(const std::string& machine, const std::string& id, std::stop_token stop);
    // `conflict` while it is in use.
    virtual Result<EnvironmentRemoval>
    remove_environment(const std::string& machine, const std::string& id, std::stop_token stop);
    virtual Result<EnvironmentGarbage>
    collect_environment_garbage(const EnvironmentRules& /*rules*/, std::stop_token /*stop*/)
    {
        return EnvironmentGarbage();
    }
};

}  // namespace ponk::executor
