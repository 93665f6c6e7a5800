// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "mlflow/names.hpp"
#include "model/changed_param.hpp"
#include "relay/calls.hpp"
#include "relay/logged.hpp"

// Models that the script logs, MLflow 3.
namespace ponk::relay {

namespace {

namespace limits = mlflow::limits;

const std::vector<std::string_view> statuses{
    "LOGGED_MODEL_PENDING", "LOGGED_MODEL_READY", "LOGGED_MODEL_UPLOAD_FAILED"};

JsonArray metrics_json(const TrackedModel& model)
{
    JsonArray metrics;
    for (const auto& [key, point] : model.metrics) {
        JsonObject metric{{"key", key[0]},
                          {"value", point.value},
                          {"timestamp", point.time},
                          {"step", point.step},
                          {"model_id", model.id},
                          {"run_id", key[1]}};
        if (!key[2].empty()) metric.append("dataset_name", key[2]);
        if (!key[3].empty()) metric.append("dataset_digest", key[3]);
        metrics.emplace_back(std::move(metric));
    }
    return metrics;
}

Json model_json(const model::Tracking& tracking, const TrackedModel& model)
{
    JsonObject info{{"model_id", model.id},
                    {"experiment_id", tracking.experiment},
                    {"name", model.name},
                    {"creation_timestamp_ms", model.created},
                    {"last_updated_timestamp_ms", model.updated},
                    {"artifact_uri", model_uri(tracking, model.id)},
                    {"status", model.status},
                    {"model_type", model.type},
                    {"source_run_id", model.run}};
    if (!model.status_message.empty()) info.append("status_message", model.status_message);
    if (!model.tags.empty()) info.append("tags", pairs_json(model.tags));
    JsonObject data;
    if (!model.params.empty()) data.append("params", pairs_json(model.params));
    if (!model.metrics.empty()) data.append("metrics", metrics_json(model));
    return JsonObject{{"info", std::move(info)}, {"data", std::move(data)}};
}

// Of twins the last one counts.
JsonObject object_of(mlflow::LoggedTexts texts)
{
    JsonObject out;
    for (auto& [key, value] : texts)
        out.set(std::move(key), std::move(value));
    return out;
}

Result<Answer> show(const Recorder& recorder, const std::string& id)
{
    return recorder.look([&](const TrackedState& state) -> Result<Answer> {
        const auto* model = state.find_model(id);
        if (!model) return Answer();
        return reply({{"model", model_json(recorder.tracking(), *model)}});
    });
}

bool is_known(const Recorder& recorder, const std::string& id)
{
    return recorder.look(
        [&id](const TrackedState& state) { return state.find_model(id) != nullptr; });
}

Result<> record(Recorder& recorder, JsonObject change)
{
    change.append("time", wall_milliseconds());
    return recorder.write(
        [&change](const TrackedState&) -> Result<JsonArray> { return JsonArray{change}; });
}

Result<Answer> create_model(Recorder& recorder, const Call& call)
{
    const auto experiment = TRY(call.fields.text("experiment_id"));
    if (!is_own_experiment(recorder, experiment)) return Answer();
    const auto id = "m-" + to_hex(random_bytes(16));
    auto name = TRY(mlflow::logged_model_name_of(call.fields));
    if (name.empty()) name = "model-" + id.substr(2, 8);
    const auto type = TRY(call.fields.find_text("model_type")).value_or("");
    TRY(mlflow::check_length("model_type", type, limits::experiment_name));
    const auto run = TRY(call.fields.find_text("source_run_id")).value_or("");
    TRY(mlflow::check_length("source_run_id", run, limits::key));
    const auto params = object_of(TRY(mlflow::params_of(call.fields)));
    const auto tags = object_of(TRY(mlflow::tags_of(call.fields)));
    TRY(record(recorder,
               {{"model", id},
                {"name", name},
                {"type", type},
                {"run", run},
                {"params", params},
                {"tags", tags}}));
    return show(recorder, id);
}

Result<Answer> show_model(Recorder& recorder, const Call& call)
{
    return show(recorder, call.variables.front());
}

Result<Answer> finish_model(Recorder& recorder, const Call& call)
{
    const auto& id = call.variables.front();
    if (!is_known(recorder, id)) return Answer();
    if (TRY(call.fields.find_text("model_id")).value_or(id) != id)
        return tl::unexpected(call.fields.invalid("model_id", "The path names another model"));
    const auto status = TRY(call.fields.find_name("status", statuses));
    if (!status) return tl::unexpected(call.fields.missing("status"));
    TRY(record(recorder, {{"model", id}, {"status", *status}}));
    return show(recorder, id);
}

Result<Answer> tag_model(Recorder& recorder, const Call& call)
{
    const auto& id = call.variables.front();
    if (!is_known(recorder, id)) return Answer();
    const auto tags = object_of(TRY(mlflow::tags_of(call.fields)));
    TRY(record(recorder, {{"model", id}, {"tags", tags}}));
    return reply();
}

Result<Answer> untag_model(Recorder& recorder, const Call& call)
{
    const auto& id = call.variables.front();
    const auto& key = call.variables.back();
    const auto has_tag = recorder.look([&](const TrackedState& state) -> std::optional<bool> {
        const auto* model = state.find_model(id);
        if (!model) return std::nullopt;
        return model->tags.contains(key);
    });
    if (!has_tag) return Answer();
    if (!*has_tag)
        return fail(ErrorKind::not_found, "No tag with name: {} in model with id {}", key, id);
    TRY(record(recorder, {{"model", id}, {"untag", key}}));
    return reply();
}

Result<Answer> add_params(Recorder& recorder, const Call& call)
{
    const auto& id = call.variables.front();
    if (!is_known(recorder, id)) return Answer();
    const auto params = object_of(TRY(mlflow::params_of(call.fields)));
    TRY(recorder.write([&](const TrackedState& state) -> Result<JsonArray> {
        const auto* model = state.find_model(id);
        const auto known = model ? model->params : Texts();
        for (const auto& [key, value] : params) {
            const auto before = known.find(key);
            if (before != known.end() && before->second != value.as_string())
                return tl::unexpected(
                    model::changed_param(key, before->second, "this model", value.as_string()));
        }
        return JsonArray{
            JsonObject{{"model", id}, {"params", params}, {"time", wall_milliseconds()}}};
    }));
    return reply();
}

Result<Answer> delete_model(Recorder& recorder, const Call& call)
{
    const auto& id = call.variables.front();
    if (!is_known(recorder, id)) return Answer();
    TRY(record(recorder, {{"model", id}, {"deleted", true}}));
    return reply();
}

// What models of the run are searched by: what clients ask for by themselves.
struct Wanted {
    std::string name;  // of a model
    std::string run;   // that made it; empty: any
};

// 'x' or "x", with nothing to be resolved in it.
std::optional<std::string> quoted(std::string_view text)
{
    const auto value = trim(text);
    if (value.size() < 2 || (value.front() != '\'' && value.front() != '"') ||
        value.back() != value.front())
        return std::nullopt;
    const auto inside = value.substr(1, value.size() - 2);
    if (inside.find(value.front()) != std::string_view::npos) return std::nullopt;
    return std::string(inside);
}

// name = 'x', alone or with source_run_id = 'y'. nullopt: something else.
std::optional<Wanted> wanted_of(const std::string& filter)
{
    Wanted wanted;
    std::string_view rest = filter;
    while (!rest.empty()) {
        const auto conjunction = rest.find(" AND ");
        const auto term = trim(rest.substr(0, conjunction));
        rest = conjunction == std::string_view::npos ? "" : rest.substr(conjunction + 5);
        const auto equals = term.find('=');
        if (equals == std::string_view::npos) return std::nullopt;
        const auto key = trim(term.substr(0, equals));
        auto value = quoted(term.substr(equals + 1));
        if (!value || (key != "name" && key != "source_run_id")) return std::nullopt;
        (key == "name" ? wanted.name : wanted.run) = std::move(*value);
    }
    return wanted.name.empty() ? std::nullopt : std::optional(std::move(wanted));
}

// nullopt: it is a search of another kind, or in other experiments.
Result<std::optional<Wanted>> search_of(const Recorder& recorder, const Fields& fields)
{
    const auto experiments = TRY(fields.texts("experiment_ids"));
    const bool ours = experiments.size() == 1 && experiments.front() != "0" &&
                      is_own_experiment(recorder, experiments.front());
    const auto filter = TRY(fields.find_text("filter")).value_or("");
    return ours ? wanted_of(filter) : std::nullopt;
}

net::Response
found_models(const Recorder& recorder, const TrackedState& state, const Wanted& wanted)
{
    JsonArray found;
    for (const auto& [id, model] : state.models()) {
        if (model.name == wanted.name && (wanted.run.empty() || model.run == wanted.run))
            found.push_back(model_json(recorder.tracking(), model));
    }
    if (found.empty()) return reply();
    return reply({{"models", std::move(found)}});
}

// Of the models of this run. A search that could concern others is the daemon's.
Result<Answer> search_models(Recorder& recorder, const Call& call)
{
    const auto wanted = TRY(search_of(recorder, call.fields));
    if (!wanted) return Answer();
    return recorder.look([&](const TrackedState& state) -> Result<Answer> {
        if (!state.find_run(wanted->run)) return Answer();
        return found_models(recorder, state, *wanted);
    });
}

}  // namespace

// Clients look for the model of a run by its name alone: it is most likely of this run.
Answer answer_alone(const Recorder& recorder, const net::Request& request)
{
    static const std::vector<std::string> search{"api", "2.0", "mlflow", "logged-models", "search"};
    if (request.method != "POST" || request.path != search) return std::nullopt;
    const auto fields = Fields::of(request);
    const auto wanted = fields ? search_of(recorder, *fields) : std::nullopt;
    if (!wanted || !*wanted || !(*wanted)->run.empty()) return std::nullopt;
    return recorder.look(
        [&](const TrackedState& state) { return found_models(recorder, state, **wanted); });
}

std::span<const Route> model_calls()
{
    static constexpr Route table[] = {
        {"POST", "/api/2.0/mlflow/logged-models", create_model},
        {"POST", "/api/2.0/mlflow/logged-models/search", search_models},
        {"GET", "/api/2.0/mlflow/logged-models/{id}", show_model},
        {"PATCH", "/api/2.0/mlflow/logged-models/{id}", finish_model},
        {"DELETE", "/api/2.0/mlflow/logged-models/{id}", delete_model},
        {"PATCH", "/api/2.0/mlflow/logged-models/{id}/tags", tag_model},
        {"DELETE", "/api/2.0/mlflow/logged-models/{id}/tags/{key}", untag_model},
        {"POST", "/api/2.0/mlflow/logged-models/{id}/params", add_params},
    };
    return table;
}

}  // namespace ponk::relay
