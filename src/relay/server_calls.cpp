// SPDX-License-Identifier: Apache-2.0
#include "mlflow/version.hpp"
#include "relay/calls.hpp"

// What a client asks about the server itself, and the experiment that the run belongs to.
namespace ponk::relay {

namespace {

net::Response plain(std::string text)
{
    net::Response response;
    response.type = "text/plain; charset=utf-8";
    response.body = std::move(text);
    return response;
}

Result<Answer> show_health(Recorder& /*recorder*/, const Call& /*call*/)
{
    return plain("OK");
}

Result<Answer> show_version(Recorder& /*recorder*/, const Call& /*call*/)
{
    return plain(mlflow::spoken_version);
}

Result<Answer> show_abilities(Recorder& /*recorder*/, const Call& /*call*/)
{
    return reply({{"store_type", "SqlStore"},
                  {"workspaces_enabled", false},
                  {"trace_archival_enabled", false},
                  {"multipart_uploads_enabled", false},
                  {"multipart_downloads_enabled", false}});
}

JsonObject experiment_json(const model::Tracking& tracking, const std::string& name)
{
    return {{"experiment",
             JsonObject{{"experiment_id", tracking.experiment},
                        {"name", name},
                        {"artifact_location", "mlflow-artifacts:/" + tracking.experiment},
                        {"lifecycle_stage", "active"},
                        {"creation_time", tracking.started},
                        {"last_update_time", tracking.started}}}};
}

// A run stays in its experiment, and a script that names another one logs into its run all the
// same: the run says which name that was.
Result<> note_name(Recorder& recorder, const std::string& name, ExperimentNames::How how)
{
    const bool goes_there = recorder.names().name(name, how);
    if (!goes_there || name == recorder.tracking().experiment_name) return {};
    return recorder.write([&name](const TrackedState& state) -> Result<JsonArray> {
        const auto known = state.own().tags.find(other_name_tag);
        const bool is_noted = known != state.own().tags.end() && known->second == name;
        if (is_noted || state.is_taken()) return JsonArray();
        return JsonArray{JsonObject{{"tag", other_name_tag}, {"value", name}}};
    });
}

Result<Answer> show_experiment(Recorder& recorder, const Call& call)
{
    const auto id = TRY(call.fields.text("experiment_id"));
    if (id != recorder.tracking().experiment) return Answer();
    return reply(experiment_json(recorder.tracking(), recorder.names().shown()));
}

Result<Answer> find_experiment(Recorder& recorder, const Call& call)
{
    const auto name = TRY(call.fields.text("experiment_name"));
    TRY(note_name(recorder, name, ExperimentNames::How::found));
    return reply(experiment_json(recorder.tracking(), name));
}

Result<Answer> create_experiment(Recorder& recorder, const Call& call)
{
    TRY(note_name(recorder, TRY(call.fields.text("name")), ExperimentNames::How::made));
    return reply({{"experiment_id", recorder.tracking().experiment}});
}

}  // namespace

std::span<const Route> server_calls()
{
    static constexpr Route table[] = {
        {"GET", "/health", show_health},
        {"GET", "/version", show_version},
        {"GET", "/api/3.0/mlflow/server-info", show_abilities},
    };
    return table;
}

std::span<const Route> experiment_calls()
{
    static constexpr Route table[] = {
        {"GET", "/api/2.0/mlflow/experiments/get", show_experiment},
        {"GET", "/api/2.0/mlflow/experiments/get-by-name", find_experiment},
        {"POST", "/api/2.0/mlflow/experiments/create", create_experiment},
    };
    return table;
}

}  // namespace ponk::relay
