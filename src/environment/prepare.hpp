// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/conda.hpp"
#include "dockerapi/engine.hpp"
#include "dockerapi/registry.hpp"
#include "environment/cache/cache.hpp"
#include "environment/spec/request.hpp"
#include "environment/spec/substitution.hpp"
#include "environment/tools/settings.hpp"
#include "environment/tools/tool_run.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

// What executors and commands call: an environment that is ready, built when it is not.
namespace ponk::environment {

struct Prepared {
    Record record;
    Lock lock;
    bool built = false;  // now; else it was there
    std::string reason;  // why it was built, or that it was there
    std::vector<Substitution> substitutions;
    // For the script: PATH gets the first in front, the others are set.
    std::string path_front;
    std::vector<std::pair<std::string, std::string>> variables;
    // Keeps the environment from being removed; hold it as long as the run lasts (or hand its
    // descriptor to the process that does).
    std::optional<os::FileLock> lease;
};

// Builds it, or finds it. Lines about the work go to `progress`. Two that want the same at the same
// time share one build.
Result<Prepared> prepare(const Settings& settings,
                         const Request& request,
                         const Progress& progress,
                         std::stop_token stop);

// One that is built already and serves the request, found without starting any program: of several
// that stand on different Pythons the one of the project's last run, else the one used last.
// nullopt: there is none, or it is being changed.
Result<std::optional<Prepared>> find_built(const Settings& settings, const Request& request);

// What `prepare` would do now.
struct Outlook {
    bool ready = false;
    std::string key;               // empty when something is missing to know it
    std::string id;                // empty like the key
    std::string interpreter;       // of one that is ready
    std::string builder;           // who would build, or built
    std::string choice;            // why that one
    std::string reason;            // why it would be built
    std::optional<Error> missing;  // why it could not be built
    std::vector<Substitution> substitutions;
};
Result<Outlook> check(const Settings& settings, const Request& request, std::stop_token stop);

}  // namespace ponk::environment
