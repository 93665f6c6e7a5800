// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/id.hpp"
#include "base/json.hpp"
#include "model/run_state.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ponk::model {

// One execution of a script, as history remembers it. Times are wall-clock milliseconds, 0 when
// not known (yet).
struct Run {
    RunId id;
    std::int64_t number = 0;  // counts up within the project
    std::string project;      // project id
    std::string project_path;
    std::string name;
    RunState state = RunState::not_started;
    std::optional<int> exit_code;  // 128+n when signal n ended the script
    std::optional<Error> error;    // ours, never the script's
    std::string script_name;
    std::vector<std::string> arguments;
    std::string target;
    std::string target_type;
    std::string run_configuration;
    std::string framework;
    std::string user;
    std::string host;
    std::int64_t created = 0;
    std::int64_t started = 0;
    std::int64_t ended = 0;
    std::int64_t deleted = 0;  // when a client set it aside, which can be taken back; 0: it did not
    std::int64_t imported = 0;  // when it came from another history, without files; 0: made here
    std::string snapshot;       // manifest digest of what was executed
    std::string outputs;        // manifest digest of what came back
    std::string rerun_of;
    std::string parent;  // the run whose script made it by MLflow's API; empty: none
    bool tracked = true;
    bool hidden = false;
    bool cancel_requested = false;
    std::string job;  // the executor's own handle, enough to find the job after a restart
    std::map<std::string, std::int64_t> timings;  // milliseconds per phase
    std::vector<std::pair<std::string, std::string>> tags;
    Json git;            // commit, branch, dirty, remote; null outside a repository
    Json configuration;  // all that a rerun needs; secrets by name only
    Json environment;    // what was prepared for it: id, builder, digests; null: the user's own
    Json evidence;       // what the supervisor saw at the end: signal, memory, oom, log checksum
    Json gpu;  // its GPUs: devices, place in the queue, verdict; null: none were asked for
    std::vector<std::string> warnings;  // sentences: what was left out, healed, found damaged
};

// A value logged by a script. `text` is set for values that are not numbers.
struct MetricPoint {
    std::string key;
    double value = 0;
    std::optional<std::string> text;
    std::int64_t step = 0;
    std::int64_t time = 0;  // wall-clock milliseconds
    // Logged by itself, or as one of a list: a list is a list in the run's record too.
    enum class Form { single, list } form = Form::single;
};

}  // namespace ponk::model
