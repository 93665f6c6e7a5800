// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/model_json.hpp"

#include "api/mlflow/assessment_json.hpp"
#include "mlflow/trace_time.hpp"

namespace ponk::api::mlflow {

namespace {

void set_if_any(JsonObject& object, std::string_view name, const std::optional<std::string>& text)
{
    if (text) object.set(std::string(name), *text);
}

Json metric_json(const store::ModelMetric& metric)
{
    JsonObject object{{"key", metric.key},
                      {"value", metric.value},
                      {"timestamp", metric.time},
                      {"step", metric.step}};
    set_if_any(object, "dataset_name", metric.dataset_name);
    set_if_any(object, "dataset_digest", metric.dataset_digest);
    object.set("model_id", metric.model);
    object.set("run_id", metric.run);
    return object;
}

Json dataset_json(const store::DatasetInput& input)
{
    JsonObject dataset{{"name", input.dataset.name},
                       {"digest", input.dataset.digest},
                       {"source_type", input.dataset.source_type},
                       {"source", input.dataset.source}};
    set_if_any(dataset, "schema", input.dataset.schema);
    set_if_any(dataset, "profile", input.dataset.profile);
    JsonObject object;
    set_unless_empty(object, "tags", pairs_json(input.tags));
    object.set("dataset", std::move(dataset));
    return object;
}

Json map_json(const store::Pairs& pairs)
{
    JsonObject map;
    for (const auto& [key, value] : pairs)
        map.append(key, value);
    return map;
}

}  // namespace

JsonArray pairs_json(const store::Pairs& pairs)
{
    JsonArray list;
    for (const auto& [key, value] : pairs)
        list.emplace_back(JsonObject{{"key", key}, {"value", value}});
    return list;
}

void set_unless_empty(JsonObject& object, std::string_view name, JsonArray list)
{
    if (!list.empty()) object.set(std::string(name), std::move(list));
}

Json logged_model_json(const store::LoggedModel& model)
{
    JsonObject info{{"model_id", model.id},
                    {"experiment_id", std::to_string(model.experiment)},
                    {"name", model.name},
                    {"creation_timestamp_ms", model.created},
                    {"last_updated_timestamp_ms", model.updated},
                    {"artifact_uri", model.location},
                    {"status", model.status},
                    {"model_type", model.type},
                    {"source_run_id", model.source_run}};
    set_unless_empty(info, "tags", pairs_json(model.tags));
    JsonObject data;
    set_unless_empty(data, "params", pairs_json(model.params));
    JsonArray metrics;
    for (const auto& metric : model.metrics)
        metrics.push_back(metric_json(metric));
    set_unless_empty(data, "metrics", std::move(metrics));
    return JsonObject{{"info", std::move(info)}, {"data", std::move(data)}};
}

Json model_version_json(const store::ModelVersion& version)
{
    JsonObject object{{"name", version.name},
                      {"version", std::to_string(version.version)},
                      {"creation_timestamp", version.created},
                      {"last_updated_timestamp", version.updated},
                      {"current_stage", version.stage}};
    set_if_any(object, "description", version.description);
    object.set("source", version.source);
    object.set("run_id", version.run);
    object.set("status", "READY");
    set_unless_empty(object, "tags", pairs_json(version.tags));
    object.set("run_link", version.run_link);
    JsonArray aliases;
    for (const auto& alias : version.aliases)
        aliases.emplace_back(alias);
    set_unless_empty(object, "aliases", std::move(aliases));
    if (!version.logged_model.empty()) object.set("model_id", version.logged_model);
    return object;
}

Json registered_model_json(const store::RegisteredModel& model)
{
    JsonObject object{{"name", model.name},
                      {"creation_timestamp", model.created},
                      {"last_updated_timestamp", model.updated}};
    if (!model.description.empty()) object.set("description", model.description);
    JsonArray latest;
    for (const auto& version : model.latest)
        latest.push_back(model_version_json(version));
    set_unless_empty(object, "latest_versions", std::move(latest));
    set_unless_empty(object, "tags", pairs_json(model.tags));
    JsonArray aliases;
    for (const auto& [alias, version] : model.aliases)
        aliases.emplace_back(JsonObject{{"alias", alias}, {"version", std::to_string(version)}});
    set_unless_empty(object, "aliases", std::move(aliases));
    return object;
}

Json trace_json(const store::TraceInfo& trace)
{
    JsonObject object{{"trace_id", trace.id}};
    set_if_any(object, "client_request_id", trace.client_id);
    object.set("trace_location",
               JsonObject{{"type", "MLFLOW_EXPERIMENT"},
                          {"mlflow_experiment",
                           JsonObject{{"experiment_id", std::to_string(trace.experiment)}}}});
    object.set("request_time", ponk::mlflow::trace_time_text(trace.time));
    if (trace.duration)
        object.set("execution_duration", ponk::mlflow::trace_duration_text(*trace.duration));
    object.set("state", trace.state);
    if (!trace.metadata.empty()) object.set("trace_metadata", map_json(trace.metadata));
    if (!trace.tags.empty()) object.set("tags", map_json(trace.tags));
    JsonArray assessments;
    for (const auto& assessment : trace.assessments)
        assessments.push_back(assessment_json(assessment));
    set_unless_empty(object, "assessments", std::move(assessments));
    set_if_any(object, "request_preview", trace.request);
    set_if_any(object, "response_preview", trace.response);
    return object;
}

Json inputs_json(const store::RunInputs& inputs)
{
    JsonArray datasets;
    for (const auto& dataset : inputs.datasets)
        datasets.push_back(dataset_json(dataset));
    JsonArray models;
    for (const auto& model : inputs.models)
        models.emplace_back(JsonObject{{"model_id", model}});
    JsonObject object;
    set_unless_empty(object, "dataset_inputs", std::move(datasets));
    set_unless_empty(object, "model_inputs", std::move(models));
    return object;
}

Json outputs_json(const store::RunInputs& inputs)
{
    JsonArray models;
    for (const auto& output : inputs.outputs)
        models.emplace_back(JsonObject{{"model_id", output.model}, {"step", output.step}});
    JsonObject object;
    set_unless_empty(object, "model_outputs", std::move(models));
    return object;
}

}  // namespace ponk::api::mlflow
