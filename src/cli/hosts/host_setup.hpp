// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ssh/connection.hpp"
#include "ssh/secret.hpp"

#include <functional>
#include <string>
#include <vector>

// Turning a plain Debian or Ubuntu machine into a target, over SSH.
namespace ponk::cli {

// What the machine says about itself, as far as setting it up is concerned.
struct HostSurvey {
    std::string system;  // "Debian GNU/Linux 12 (bookworm)"
    std::string user;
    bool has_apt = false;
    bool is_debian = false;
    bool is_root = false;
    enum class Sudo { none, free, asks } sudo = Sudo::none;
    bool has_docker = false;
    bool docker_answers = false;  // for this user
    bool in_docker_group = false;
    bool live_restore = false;
    bool has_python = false;
    bool has_venv = false;
};

Result<HostSurvey> survey_host(ssh::Connection& connection, std::stop_token stop);
// "key=value" lines as the script on the host prints them.
HostSurvey parse_survey(std::string_view text);

enum class HostRole { containers, python };

struct SetupStep {
    std::string id;    // a word of the script
    std::string says;  // for people
};
struct SetupPlan {
    std::vector<SetupStep> steps;
    std::vector<std::string> packages;
};
// `unavailable` when it is not a machine that can be set up by us. No steps: nothing is to be done.
Result<SetupPlan> plan_setup(const HostSurvey& survey, HostRole role);

// Does it. `password` is for sudo, where that asks; it travels on standard input. All output goes
// to `sink` as it comes.
Result<> run_setup(ssh::Connection& connection,
                   const HostSurvey& survey,
                   const SetupPlan& plan,
                   ssh::Secret password,
                   const ssh::Connection::Sink& sink,
                   std::stop_token stop);

}  // namespace ponk::cli
