// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environment/spec/lock.hpp"
#include "environment/tools/settings.hpp"
#include "environment/tools/tool_run.hpp"
#include "environment/tools/tools.hpp"

#include <optional>

namespace ponk::environment {

// What a build shares between its steps.
struct BuildContext {
    const Settings& settings;
    const Redactor& redactor;
    const Progress& progress;
    Deadline deadline;
    std::stop_token stop;
    int held_lock = -1;
    Path folder;  // private, for plans and scripts; goes or stays with the environment

    // `variables` ("K=V") are the tool's own; what must not be seen goes there, never into `argv`.
    [[nodiscard]] Result<> run(std::string name,
                               std::vector<std::string> argv,
                               const std::vector<std::string>& variables = {}) const;
};

// conda packages to be linked by py-rattler.
struct CondaRequest {
    std::vector<std::string> channels;
    std::vector<std::string> specs;
    std::string platform;
    Path prefix;               // where the files go
    std::string used_at;       // where they will be used, when that is another place
    Json system;               // virtual packages of the machine that will use it; null: this one
    std::optional<Lock> lock;  // exactly these instead of a new solution
};

// The interpreter of our own environment that has py-rattler, a pinned one that is installed below
// $PONK_HOME/tools at the first need. `carrier` can make a venv and is new enough.
Result<Path> provide_rattler(const Python& carrier, const BuildContext& context);
Result<>
link_conda_packages(const Path& rattler, const CondaRequest& request, const BuildContext& context);

// The channels that conda means by "defaults"; others as they are.
std::vector<std::string> plain_channels(const std::vector<std::string>& channels);

}  // namespace ponk::environment
