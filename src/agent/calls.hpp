// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/home.hpp"
#include "agent/input_trees.hpp"
#include "agent/lease_keeper.hpp"
#include "agent/run_folders.hpp"
#include "base/synced.hpp"
#include "executor/executor.hpp"
#include "snapshot/object_store.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ponk::agent {

struct Reply {
    JsonObject head = {};
    std::string payload = {};
};

// What the daemon asks for: one function per call of docs/design/agent-protocol.md. Any thread may
// call; the executors of this machine do the work.
class Calls {
public:
    // `environment`: of this process, which is what runs of this machine begin with.
    static Result<std::unique_ptr<Calls>> make(const Path& home,
                                               std::vector<std::string> environment);

    Result<Reply> carry_out(const Json& head,
                            std::string payload,
                            const executor::Progress& progress,
                            const std::stop_token& stop);

    [[nodiscard]] const std::string& identity() const noexcept { return identity_.text(); }

    // Once a day: takes away what no run needs.
    void collect_garbage(const std::stop_token& stop);

private:
    struct Subject {  // a run that a call is about
        RunId id;
        executor::RunDirectory directory;
        executor::Executor* executor;
    };

    Calls(Path home,
          HomeIdentity identity,
          std::vector<std::string> environment,
          snapshot::ObjectStore objects);
    Result<Reply> dispatch(const Json& head,
                           std::string payload,
                           const executor::Progress& progress,
                           const std::stop_token& stop);
    // Before anything looks at a run.
    Result<> require_format(const std::stop_token& stop);
    Result<executor::Executor*> executor_for(const Json& head);
    // `unavailable` when a run of ours is missing because its folder is another one.
    [[nodiscard]] Result<> require_place(const RunId& run) const;
    Result<Subject> subject_of(const Json& head);
    Result<executor::Job> job_of(const Json& head);
    std::string expand(const std::string& path) const;

    // nullopt when all objects of the job's tree are here; else what to tell the daemon.
    Result<std::optional<Reply>> lacking(const executor::Job& job, const std::stop_token& stop);
    // The same for its inputs.
    Result<std::optional<Reply>> lacking_inputs(const executor::Job& job,
                                                const executor::Progress& progress,
                                                const std::stop_token& stop);
    Result<std::optional<Reply>> lacking_input(const model::Input& input,
                                               const executor::Progress& progress,
                                               const std::stop_token& stop);
    Result<> place_inputs(executor::Job& job) const;
    // Null: not even the list is here.
    Result<std::shared_ptr<const InputList>> list_of(const Digest& id);
    Result<executor::Notices> check_inputs(const RunId& run);
    Result<Reply> stage(const Json& head, const executor::Progress& progress, std::stop_token stop);
    Result<Reply> examine(const Json& head, std::stop_token stop);
    Result<Reply> launch(const Json& head, std::stop_token stop);
    Result<Reply> sync(const Json& head, std::stop_token stop);
    Result<Reply> cancel(const Json& head, std::stop_token stop);
    Result<Reply> collect(const Json& head, std::stop_token stop);
    Result<Reply> finish(const Json& head, std::stop_token stop);
    Result<executor::Rest>
    finish_copy_of(const Subject& subject, const Json& keep, std::stop_token stop);
    Result<Reply> note_collected(const Json& head);
    Result<Reply> deliver(const Json& head, std::string payload);
    Result<Reply> store_work(const Json& head, std::stop_token stop);
    Result<Reply> clean(const Json& head, std::stop_token stop);
    Result<> remove_garbage(const RunId& run);
    Result<Reply> facts(const Json& head, std::stop_token stop);
    Result<Reply> gpus(const Json& head, std::stop_token stop);
    Result<Reply> keep_environments(const Json& head, std::stop_token stop);
    Result<Reply> has_objects(const std::string& payload, const std::stop_token& stop);
    Result<Reply> put_objects(const Json& head, std::string payload, const std::stop_token& stop);
    Result<Reply> get_objects(const Json& head, const std::stop_token& stop);
    Result<Reply> put_input(const Json& head, const std::string& payload);

    Path home_;
    Synced<bool> has_format_{false};
    HomeIdentity identity_;
    std::vector<std::string> environment_;
    snapshot::ObjectStore objects_;
    RunFolders runs_;
    LeaseKeeper lease_;
    Synced<std::map<std::string, std::shared_ptr<const InputList>>> lists_;  // used lately
    // Each offers all that an executor can. A cluster's uses another one, which goes after it.
    std::map<std::string, std::unique_ptr<executor::Executor>> executors_;
};

}  // namespace ponk::agent
