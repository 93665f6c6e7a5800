// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"

namespace ponk::environment {
struct Prepared;
}

// What an executor may offer besides its six calls. Implementations are safe to call from several
// threads; calls may block.
namespace ponk::executor {

// The environments that this kind of target keeps on its machines. What a run holds, or somebody
// builds, is never removed. `machine` is the entry's.
class Environments {
public:
    virtual ~Environments() = default;

    // Brings the tree as `stage` does and tells what else `stage` would have to do; builds and
    // pulls nothing. `clean` removes what it brought.
    virtual Result<Examination> examine(const Job& job, std::stop_token stop) = 0;
    // After `stage` has failed: it might succeed with a login for the image's registry, which the
    // job does not have.
    virtual bool wants_login(const Job& /*job*/, std::stop_token /*stop*/) { return false; }

    // What `stage` made ready for the run, which is the caller's from now on; nullopt: nothing.
    virtual std::optional<environment::Prepared> take_staged(const RunId& run);

    virtual Result<EnvironmentList> list(std::stop_token stop) = 0;
    // The text of an environment's lock.
    virtual Result<std::string>
    lock(const std::string& machine, const std::string& id, std::stop_token stop) = 0;
    // `conflict` while it is in use.
    virtual Result<EnvironmentRemoval>
    remove(const std::string& machine, const std::string& id, std::stop_token stop) = 0;
    virtual Result<EnvironmentGarbage> collect_garbage(const EnvironmentRules& rules,
                                                       std::stop_token stop) = 0;
};

// The machine behind a target, for people who set it up.
class Machine {
public:
    virtual ~Machine() = default;

    // What it is and has: docs/design/api.md, "A check".
    virtual Result<Json> facts(const FactsRequest& request, std::stop_token stop) = 0;
    // Its GPUs, who uses them and how much: docs/design/gpu.md, "GPUs for people".
    virtual Result<Json> gpus(const FactsRequest& request, std::stop_token stop) = 0;
};

// The working copies of runs, wherever they are.
class WorkingCopies {
public:
    virtual ~WorkingCopies() = default;

    // Brings the working copy, as it is now, into our store (whose lease the caller holds);
    // nullopt: it is `work/` of `directory`.
    virtual Result<std::optional<Digest>>
    fetch(const std::string& handle, const RunDirectory& directory, std::stop_token stop) = 0;
    // After the end of a run on another machine: brings new files that match `keep` into our store,
    // and removes there what is as the snapshot has it.
    virtual Result<Rest> finish(const std::string& /*handle*/,
                                const RunDirectory& /*directory*/,
                                const std::vector<std::string>& /*keep*/,
                                std::stop_token /*stop*/)
    {
        return Rest();
    }
    // False when it is plain without asking anybody that `collect` would bring nothing.
    [[nodiscard]] virtual bool may_have_outputs(const RunDirectory& directory) const = 0;
};

}  // namespace ponk::executor
