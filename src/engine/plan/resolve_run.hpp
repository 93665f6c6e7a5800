// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/consents/consents.hpp"
#include "config/files/compute.hpp"
#include "engine/plan/project_key.hpp"
#include "model/run.hpp"
#include "model/run_request.hpp"
#include "model/run_spec.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ponk::engine {

using model::RunRequest;
using model::RunSpec;
using model::Variables;
using os::Path;

// The user's shell at the moment of submit. Used, never stored.
struct Submitter {
    std::vector<std::string> environment;  // "K=V"
    mode_t umask = 022;

    friend bool operator==(const Submitter&, const Submitter&) = default;
};

struct ResolvedRun {
    RunSpec spec;                           // all but its snapshot
    Path project;                           // canonical
    std::vector<std::string> notices;       // warnings of the configuration, for the user
    std::vector<config::Request> requests;  // what its files ask for that the user must allow
    Variables parameters;                   // of an entry point, which the run's record gets
};

// Reads the project's configuration and resolves every choice. Nothing is started or written; the
// error has each reason with its place.
Result<ResolvedRun>
resolve_run(const RunRequest& request, const Submitter& submitter, const ProjectKey& key);

// The location of a target; `invalid_argument` when its file names no machine and it needs one.
Result<model::Location> location_of(const config::ComputeTarget& target,
                                    const std::vector<std::string>& environment);

// The fields of a run that its specification decides.
void apply_spec(const RunSpec& spec, model::Run& run);

}  // namespace ponk::engine
