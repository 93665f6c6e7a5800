// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/id.hpp"
#include "engine/context/log_check.hpp"
#include "engine/context/notifier.hpp"
#include "engine/context/reserve.hpp"
#include "executor/executor.hpp"
#include "os/file.hpp"
#include "secrets/secrets.hpp"
#include "snapshot/object_store.hpp"
#include "store/history/history.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace ponk::engine {

using os::Path;

// No executor of this version serves targets of that type.
Error unsupported_target(const std::string& type);

// By what the working copies of ended runs go. Zero means no limit.
struct CopyRules {
    std::chrono::seconds largest_age{0};  // since the end of the run
    std::uint64_t largest_size = 0;       // of all together; the oldest go first
};

// The collaborators of every use case; daemon/ makes them and outlives all who refer to them.
struct Context {
    Path home;
    store::History& history;
    const snapshot::ObjectStore& objects;
    secrets::Secrets& secrets;
    // By target type ("local", …). A type that is not here is not built yet.
    std::map<std::string, std::unique_ptr<executor::Executor>>& executors;
    Notifier& notifier;
    executor::EnvironmentRules environment_rules = {};  // by which unused environments go
    CopyRules copy_rules = {};                          // by which working copies go
    // Answers a call of a run's script that only we can answer, in the form of the file for its
    // relay; empty: nobody answers now. Set by daemon/, called on the run's supervising thread.
    std::function<std::string(const RunId& run, const Json& ask)> answer = {};
    std::shared_ptr<LogDigests> log_digests = std::make_shared<LogDigests>();

    // Disk space for writing down how runs ended.
    [[nodiscard]] Reserve reserve() const { return Reserve(home / "reserve"); }
    [[nodiscard]] executor::RunDirectory run_directory(const RunId& id) const
    {
        return executor::RunDirectory(home / "runs" / id.text());
    }
    [[nodiscard]] LogFile log_of(const RunId& id) const
    {
        return {id, run_directory(id).task() / "log"};
    }
    [[nodiscard]] Result<executor::Executor*> executor(const std::string& name) const;
    [[nodiscard]] Result<executor::Executor*> executor(const model::RunSpec& spec) const;
    // Adds an event to the run's story and wakes its followers. Never fails the caller: the story
    // is for people.
    void tell(const RunId& id, const std::string& kind, const std::string& text) const;
};

}  // namespace ponk::engine
