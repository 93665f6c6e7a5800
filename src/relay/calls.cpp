// SPDX-License-Identifier: Apache-2.0
#include "relay/calls.hpp"

#include "base/text.hpp"

#include <array>

namespace ponk::relay {

namespace {

// The variables when `path` is what `pattern` describes.
std::optional<std::vector<std::string>> match(std::string_view pattern,
                                              const std::vector<std::string>& path)
{
    const auto parts = split(pattern.substr(1), '/');
    if (parts.size() != path.size()) return std::nullopt;
    std::vector<std::string> variables;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].starts_with('{')) {
            variables.push_back(path[i]);
        } else if (parts[i] != path[i]) {
            return std::nullopt;
        }
    }
    return variables;
}

Result<Answer> perform(const Route& route,
                       Recorder& recorder,
                       const net::Request& request,
                       std::vector<std::string> variables)
{
    const auto fields = TRY(Fields::of(request));
    return route.action(recorder, {request, std::move(variables), fields});
}

JsonArray metrics_json(const TrackedRun& run)
{
    JsonArray metrics;
    for (const auto& [key, series] : run.metrics) {
        metrics.emplace_back(JsonObject{{"key", key},
                                        {"value", series.latest.value},
                                        {"timestamp", series.latest.time},
                                        {"step", series.latest.step}});
    }
    return metrics;
}

// Empty lists are not sent.
void add_list(JsonObject& object, const char* name, JsonArray list)
{
    if (!list.empty()) object.append(name, std::move(list));
}

}  // namespace

Answer answer(Recorder& recorder, const net::Request& request)
{
    auto path = request.path;
    if (!path.empty() && path.front() == "ajax-api") path.front() = "api";
    for (const auto table : {run_calls(),
                             metric_calls(),
                             experiment_calls(),
                             model_calls(),
                             trace_calls(),
                             server_calls()}) {
        for (const auto& route : table) {
            if (request.method != route.method) continue;
            auto variables = match(route.pattern, path);
            if (!variables) continue;
            auto done = perform(route, recorder, request, std::move(*variables));
            if (!done) return mlflow::refuse(done.error());
            return std::move(*done);
        }
    }
    return std::nullopt;
}

net::Response reply(JsonObject object)
{
    return net::json_response(std::move(object));
}

JsonArray pairs_json(const Texts& texts)
{
    JsonArray pairs;
    for (const auto& [key, value] : texts)
        pairs.emplace_back(JsonObject{{"key", key}, {"value", value}});
    return pairs;
}

std::string artifact_uri(const model::Tracking& tracking, const std::string& run)
{
    return fmt::format("mlflow-artifacts:/{}/{}/artifacts", tracking.experiment, run);
}

std::string model_uri(const model::Tracking& tracking, const std::string& model)
{
    return fmt::format("mlflow-artifacts:/{}/models/{}/artifacts", tracking.experiment, model);
}

Json run_info(const model::Tracking& tracking, const TrackedRun& run, const std::string& experiment)
{
    JsonObject info{{"run_id", run.id},
                    {"run_uuid", run.id},
                    {"run_name", run.name},
                    {"experiment_id", experiment},
                    {"user_id", run.user},
                    {"status", run.status},
                    {"start_time", run.started},
                    {"artifact_uri", artifact_uri(tracking, run.id)},
                    {"lifecycle_stage", run.deleted ? "deleted" : "active"}};
    if (run.ended != 0) info.append("end_time", run.ended);
    return info;
}

Json run_json(const model::Tracking& tracking, const TrackedRun& run, const std::string& experiment)
{
    JsonObject data;
    add_list(data, "metrics", metrics_json(run));
    add_list(data, "params", pairs_json(run.params));
    add_list(data, "tags", pairs_json(run.tags));
    JsonObject inputs;
    add_list(inputs, "dataset_inputs", run.datasets);
    JsonArray models;
    for (const auto& id : run.model_inputs)
        models.emplace_back(JsonObject{{"model_id", id}});
    add_list(inputs, "model_inputs", std::move(models));
    JsonObject outputs;
    models.clear();
    for (const auto& [id, step] : run.model_outputs)
        models.emplace_back(JsonObject{{"model_id", id}, {"step", step}});
    add_list(outputs, "model_outputs", std::move(models));
    return JsonObject{{"info", run_info(tracking, run, experiment)},
                      {"data", std::move(data)},
                      {"inputs", std::move(inputs)},
                      {"outputs", std::move(outputs)}};
}

JsonObject record_about(const model::Tracking& tracking, const std::string& run)
{
    JsonObject record;
    if (run != tracking.run) record.append("of", run);
    return record;
}

}  // namespace ponk::relay
