// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/conda.hpp"
#include "dockerapi/engine.hpp"
#include "dockerapi/registry.hpp"
#include "environment/cache.hpp"
#include "environment/settings.hpp"
#include "environment/substitution.hpp"
#include "environment/tool_run.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

// What executors and commands call: an environment that is ready, built when it is not.
namespace ponk::environment {

// Where an image is wanted, and what it stands on.
struct ImageWish {
    dockerapi::Engine engine;  // on this machine, or forwarded from another
    std::string base;          // `baseDockerImage`
    std::optional<dockerapi::Login> login;
    std::string network;  // of build steps (`buildNetwork`); empty: what the settings say
};

// What a run needs. Values only; `conda` may hold addresses with tokens, which go nowhere but to
// the installer.
struct Request {
    std::string project;  // its id: environments of one project are compared
    std::string target;   // its name
    config::CondaEnvironment conda;
    Path root;                       // what names in the file are relative to
    std::string file;                // how messages name it
    std::string interpreter;         // `pythonLocation`, for a prefix; empty: what PATH has
    std::optional<ImageWish> image;  // absent: a prefix on this machine
    std::optional<Lock> lock;        // exactly this again, instead of a new resolution
    enum class Substitutions { none, known } substitutions = Substitutions::none;
    Gpus gpus = Gpus::some;  // of the target; decides between replacements
};

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
