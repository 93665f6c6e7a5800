// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlflow/error.hpp"
#include "mlflow/fields.hpp"
#include "net/message.hpp"
#include "relay/recorder.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

// MLflow's calls that a run can have answered where it is, docs/design/relay.md.
namespace ponk::relay {

using mlflow::Fields;

struct Call {
    const net::Request& request;
    std::vector<std::string> variables;  // of the path, in order
    Fields fields;
};

// nullopt: it is about something that only the daemon knows.
using Answer = std::optional<net::Response>;
using Action = Result<Answer> (*)(Recorder& recorder, const Call& call);

struct Route {
    const char* method;
    const char* pattern;  // "/api/2.0/mlflow/…"; "{id}" is a variable
    Action action;
};

// One table for each part, in the file of its calls.
std::span<const Route> server_calls();
std::span<const Route> experiment_calls();
std::span<const Route> run_calls();
std::span<const Route> metric_calls();
std::span<const Route> model_calls();
std::span<const Route> trace_calls();

// The answer to a call with a small body; nullopt: nobody here knows it.
Answer answer(Recorder& recorder, const net::Request& request);

// What can be said about a call for the daemon when that one does not answer; nullopt: nothing.
Answer answer_alone(const Recorder& recorder, const net::Request& request);

// What a client says about where it is: MLflow's for Python does, in a run
// (python/ponk/_mlflow.py).
struct ClientContext {
    std::optional<std::string> active;  // the id of its experiment; nullopt: it does not say
    std::string named;  // MLFLOW_EXPERIMENT_NAME, what the run's own id means to it; often empty
};
ClientContext client_context_of(const net::Request& request);

// By whatever name the script knows it; "0" is that of who names none.
bool is_own_experiment(const Recorder& recorder, const std::string& id);
// The name that has this id in this run; nullopt: it is not another name of the run's experiment.
std::optional<std::string> find_other_name(const Recorder& recorder, const std::string& id);
// What an id is called by who says where it is; empty: by the experiment's own name.
std::string
name_for(const Recorder& recorder, const ClientContext& client_context, const std::string& id);
// The id of the experiment of this run, as this client knows it.
std::string experiment_of(const Recorder& recorder,
                          const TrackedState& state,
                          const TrackedRun& run,
                          const ClientContext& client_context);
// The records that say what the run's experiment is called now; empty: as it is.
JsonArray renaming(const TrackedState& state, const std::string& name);

// What others have, who alone the daemon knows; nullopt: nothing like that.
struct Elsewhere {
    std::function<std::optional<std::string>(const std::string& name)> find_id;
    std::function<std::optional<std::string>(const std::string& id)> find_name;
};
// A request that the daemon will answer, which knows the run's experiment by its own id only. In it
// a search looks where the script has put its runs, or asked for, and at the runs of an experiment
// of that name that others made.
void put_own_experiment(const Recorder& recorder, std::string& target, std::string& body);
std::optional<std::string>
narrowed_search(Recorder& recorder, const net::Request& request, const Elsewhere& elsewhere);

// After the daemon has carried it out: one of our runs may have been deleted or restored by it.
Result<> note_deletion(Recorder& recorder, const net::Request& request);

net::Response reply(JsonObject object = {});

// {"key": …, "value": …} of each, as clients send and expect them.
JsonArray pairs_json(const Texts& texts);

// Where clients send a run's files: below the address of the server itself.
std::string artifact_uri(const model::Tracking& tracking, const std::string& run);
std::string model_uri(const model::Tracking& tracking, const std::string& model);
Json run_info(const model::Tracking& tracking,
              const TrackedRun& run,
              const std::string& experiment);
Json run_json(const model::Tracking& tracking,
              const TrackedRun& run,
              const std::string& experiment);

// The first members of a record about this run.
JsonObject record_about(const model::Tracking& tracking, const std::string& run);

}  // namespace ponk::relay
