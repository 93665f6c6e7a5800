// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/id.hpp"
#include "base/json.hpp"
#include "config/consents/consents.hpp"
#include "config/files/compute.hpp"
#include "engine/plan/container_plan.hpp"
#include "executor/executor.hpp"
#include "model/run.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace ponk::engine {

using os::Path;
using Variables = std::vector<std::pair<std::string, std::string>>;

// The user's shell at the moment of submit. Used, never stored.
struct LaunchContext {
    std::vector<std::string> environment;  // "K=V"
    mode_t umask = 022;

    friend bool operator==(const LaunchContext&, const LaunchContext&) = default;
};

// What a client asks for.
struct Submission {
    RunId id;
    Path project;
    std::optional<std::string> script;  // absent: ArgumentVector decides
    std::vector<std::string> arguments;
    enum class Purpose { run, prepare } purpose = Purpose::run;
    std::string run_configuration = "local";
    std::string target;              // overrides the run configuration's
    std::string conda_dependencies;  // override
    std::string spark_dependencies;  // override
    std::string name;
    Variables tags;
    Variables variables;
    std::optional<bool> tracked;
    std::optional<std::int64_t> time_limit_seconds;
    bool substitute = false;   // known replacements for packages that died since 2017
    bool may_promote = false;  // its script may move aliases of models; no file can grant that
    std::string tensorboard;   // override
    std::optional<std::string> gpus;  // overrides the files
    executor::GpuRequest::Busy gpus_busy = executor::GpuRequest::Busy::wait;
    LaunchContext launch_context;
};

// The machine that a run goes to, as the target's file names it.
struct HostPlan {
    std::string address;
    int port = 0;  // 0: as the user's SSH client says
    std::string user;
    std::string scratch;
    std::string private_key;
};

// Everything that decides how a run executes, besides its snapshot and its launch context.
// Stored with the run (secrets by name only), so that a rerun is exact.
struct Plan {
    std::string run_configuration;
    std::string target;
    std::string target_type;
    std::string framework;
    std::string script;
    std::vector<std::string> arguments;
    std::vector<std::string> command;  // of an MLproject entry point
    std::string interpreter;
    Variables variables;  // values may be "secret:NAME"
    std::string shared_directory;
    std::vector<std::string> spark_options;
    std::string tensorboard;  // folder of event files besides `outputs`; empty: none
    std::int64_t time_limit_seconds = 0;
    bool tracked = true;
    bool collect_outputs = true;
    std::optional<HostPlan> host;
    std::optional<ContainerPlan> container;
    std::string conda_file;  // whose packages the target prepares; empty: the user's own affair
    bool prepare = true;     // `PrepareEnvironment`: build what is not there, or refuse
    bool substitute = false;
    bool may_promote = false;
    executor::GpuRequest gpu;
    bool only_prepare = false;  // nothing is executed
    std::string lock_digest;    // of the lock that an earlier run had: exactly that environment
};

// What replaces a script in the record of a preparation.
inline constexpr const char* preparation_name = "(prepare)";

struct PlanReport {
    Plan plan;
    std::string project_id;
    std::string project_name;
    Path project;                           // canonical
    std::vector<std::string> notices;       // warnings of the configuration, for the user
    std::vector<config::Request> requests;  // what its files ask for that the user must allow
};

// Reads the project's configuration and resolves every choice. Nothing is started or written; the
// error has each reason with its place.
Result<PlanReport> make_plan(const Submission& submission);

// The machine of a target that has one; `invalid_argument` when its file names none.
Result<std::optional<HostPlan>> host_plan(const config::ComputeTarget& target,
                                          const std::vector<std::string>& environment);

// The project's identity: Id of project.json, else 32 hex digits of its canonical path.
struct ProjectKey {
    std::string id;
    std::string name;
    Path path;
};
Result<ProjectKey> identify_project(const Path& folder);

// The fields of a run that say how it executes.
void apply_plan(const Plan& plan, model::Run& run);

Json to_json(const Plan& plan);
Result<Plan> plan_from_json(const Json& value);
// Names of the secrets that the variables refer to.
std::vector<std::string> secret_names(const Plan& plan);

}  // namespace ponk::engine
