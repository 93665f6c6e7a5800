// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/run_spec.hpp"

#include <cstdint>

namespace ponk::model {

// What a client asks for: what the command line says, before the project's files are read. The body
// of `POST /runs`, docs/design/api.md. A new option of submit is a line here, a line in its command
// and a line where runs are resolved.
struct RunRequest {
    RunId id;
    std::string project;  // its folder, absolute
    std::string folder;   // of the project, in which the script starts; empty: its own
    // One of these four; none: ArgumentVector decides.
    std::optional<std::string> script;
    std::string module;                // as after 'python -m'
    std::vector<std::string> command;  // words to execute as they are
    std::string entry_point;           // of the MLproject, as 'mlflow run -e' has it
    Variables parameters;              // of an entry point; of a script as "--NAME VALUE"
    std::vector<std::string> arguments;
    std::string run_configuration = "local";
    std::string target;  // overrides the run configuration's, as all that follow
    std::string python;  // the program that runs the script
    std::string conda_dependencies;
    std::string spark_dependencies;
    std::string name;
    Variables tags;
    Variables variables;
    std::optional<bool> tracked;
    std::optional<std::int64_t> time_limit_seconds;
    std::optional<std::int64_t> grace_seconds;
    bool substitute = false;         // known replacements for packages that died since 2017
    std::vector<std::string> allow;  // "promote"; no file can grant that
    std::string tensorboard;
    std::optional<std::string> gpus;
    bool no_wait = false;             // fail when the GPUs are busy
    std::vector<std::string> inputs;  // "PATH" or "PLACE=PATH", PATH absolute
    bool input_digest = false;
    bool interactive = false;  // the terminal of the client is the script's standard input
    // Not sent: what the client asks for decides it.
    Policy::Purpose purpose = Policy::Purpose::run;

    static constexpr auto fields()
    {
        return std::tuple(field("run_id", &RunRequest::id),
                          field("project", &RunRequest::project),
                          field("folder", &RunRequest::folder),
                          field("script", &RunRequest::script),
                          field("module", &RunRequest::module),
                          field("command", &RunRequest::command),
                          field("entry_point", &RunRequest::entry_point),
                          field("parameters", &RunRequest::parameters),
                          field("arguments", &RunRequest::arguments),
                          field("run_configuration", &RunRequest::run_configuration),
                          field("target", &RunRequest::target),
                          field("python", &RunRequest::python),
                          field("conda_dependencies", &RunRequest::conda_dependencies),
                          field("spark_dependencies", &RunRequest::spark_dependencies),
                          field("name", &RunRequest::name),
                          field("tags", &RunRequest::tags),
                          field("variables", &RunRequest::variables),
                          field("tracked", &RunRequest::tracked),
                          field("time_limit_seconds", &RunRequest::time_limit_seconds),
                          field("grace_seconds", &RunRequest::grace_seconds),
                          field("substitute", &RunRequest::substitute),
                          field("allow", &RunRequest::allow),
                          field("tensorboard", &RunRequest::tensorboard),
                          field("gpus", &RunRequest::gpus),
                          field("no_wait", &RunRequest::no_wait),
                          field("inputs", &RunRequest::inputs),
                          field("input_digest", &RunRequest::input_digest),
                          field("interactive", &RunRequest::interactive));
    }
    friend bool operator==(const RunRequest&, const RunRequest&) = default;
};

// A hundred years, which a count of milliseconds holds easily; a day.
inline constexpr std::int64_t longest_time_limit = std::int64_t{100} * 365 * 86'400;
inline constexpr std::int64_t longest_grace = 86'400;

Json to_json(const RunRequest& request);
// `invalid_argument` names the field and what it must be.
Result<RunRequest> parse_run_request(const Json& json);

}  // namespace ponk::model
