// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/conda.hpp"
#include "dockerapi/engine.hpp"
#include "environment/spec/lock.hpp"
#include "environment/spec/substitution.hpp"

namespace ponk::environment {

// Where an image is wanted, and its base.
struct ImageRequest {
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
    Path root;                          // what names in the file are relative to
    std::string file;                   // how messages name it
    std::string interpreter;            // `pythonLocation`, for a prefix; empty: what PATH has
    std::optional<ImageRequest> image;  // absent: a prefix on this machine
    std::optional<Lock> lock;           // exactly this again, instead of a new resolution
    enum class Substitutions { none, known } substitutions = Substitutions::none;
    Gpus gpus = Gpus::some;  // of the target; decides between replacements
};

}  // namespace ponk::environment
