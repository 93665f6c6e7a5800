// SPDX-License-Identifier: Apache-2.0
#include "base/id.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "mlflow/model_summary.hpp"
#include "mlflow/names.hpp"
#include "relay/calls.hpp"
#include "relay/logged.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::relay {

namespace {

namespace limits = mlflow::limits;

constexpr const char* name_tag = "mlflow.runName";
// A record has 1 MiB.
constexpr std::size_t longest_model_history = 400'000;
const std::vector<std::string_view> statuses{
    "RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"};

// False: of others. A run of ours that was deleted takes nothing.
Result<bool> is_writable(const Recorder& recorder, const std::string& run)
{
    return recorder.look([&run](const TrackedState& state) -> Result<bool> {
        const auto* known = state.find_run(run);
        if (known && known->deleted)
            return fail(ErrorKind::invalid_argument,
                        "The run {} must be in the 'active' state. Current state is deleted.",
                        run);
        return known != nullptr;
    });
}

// Nothing to say but that it is done.
Result<Answer> done(Result<> result)
{
    TRY(std::move(result));
    return reply();
}

Result<Answer> log(Recorder& recorder, const std::string& run, const LoggedBatch& batch)
{
    return done(recorder.write([&](const TrackedState& state) {
        return records_of(batch, *state.find_run(run), record_about(recorder.tracking(), run));
    }));
}

Result<Answer> log_metric(Recorder& recorder, const Call& call)
{
    const auto run = TRY(call.fields.run_id());
    if (!TRY(is_writable(recorder, run))) return Answer();
    LoggedBatch batch;
    batch.metrics.push_back(TRY(metric_of(call.fields)));
    return log(recorder, run, batch);
}

Result<Answer> log_param(Recorder& recorder, const Call& call)
{
    const auto run = TRY(call.fields.run_id());
    if (!TRY(is_writable(recorder, run))) return Answer();
    LoggedBatch batch;
    batch.params.push_back(TRY(param_of(call.fields)));
    return log(recorder, run, batch);
}

Result<Answer> set_tag(Recorder& recorder, const Call& call)
{
    const auto run = TRY(call.fields.run_id());
    if (!TRY(is_writable(recorder, run))) return Answer();
    LoggedBatch batch;
    batch.tags.push_back(TRY(tag_of(call.fields)));
    return log(recorder, run, batch);
}

Result<Answer> log_batch(Recorder& recorder, const Call& call)
{
    const auto run = TRY(call.fields.run_id());
    if (!TRY(is_writable(recorder, run))) return Answer();
    return log(recorder, run, TRY(batch_of(call.fields)));
}

Result<Answer> delete_tag(Recorder& recorder, const Call& call)
{
    const auto run = TRY(call.fields.run_id());
    if (!TRY(is_writable(recorder, run))) return Answer();
    const auto key = TRY(call.fields.text("key"));
    // It is the name itself, which a run always has.
    if (key == name_tag) return reply();
    return done(recorder.write([&](const TrackedState& state) -> Result<JsonArray> {
        if (!state.find_run(run)->tags.contains(key)) {
            return fail(ErrorKind::not_found, "No tag with name: {} in run with id {}", key, run);
        }
        auto record = record_about(recorder.tracking(), run);
        record.append("untag", key);
        record.append("time", wall_milliseconds());
        return JsonArray{std::move(record)};
    }));
}

Result<Answer> show_run(Recorder& recorder, const Call& call)
{
    const auto id = TRY(call.fields.run_id());
    const auto client_context = client_context_of(call.request);
    return recorder.look([&](const TrackedState& state) -> Result<Answer> {
        const auto* run = state.find_run(id);
        if (!run) return Answer();
        const auto experiment = experiment_of(recorder, state, *run, client_context);
        return reply({{"run", run_json(recorder.tracking(), *run, experiment)}});
    });
}

// Only what is given changes. The engine knows better than its script how the run itself goes; what
// the script says is for the script.
Result<Answer> update_run(Recorder& recorder, const Call& call)
{
    const auto id = TRY(call.fields.run_id());
    if (!TRY(is_writable(recorder, id))) return Answer();
    const auto status = TRY(call.fields.find_name("status", statuses));
    const auto ended = TRY(call.fields.find_integer("end_time"));
    const auto name = TRY(call.fields.find_text("run_name")).value_or("");
    TRY(mlflow::check_length("run_name", name, limits::tag_value));
    const auto client_context = client_context_of(call.request);
    const auto& active = client_context.active;
    const auto place = active ? name_for(recorder, client_context, *active) : std::string();
    TRY(recorder.write([&](const TrackedState& state) -> Result<JsonArray> {
        JsonArray records;
        const auto& run = *state.find_run(id);
        const auto new_end = ended.value_or(run.ended);
        const auto new_status = status.value_or(run.status);
        const bool untouched = &run == &state.own() && !state.is_taken();
        if (untouched) records = renaming(state, active ? place : recorder.names().of_new_run());
        if (new_status != run.status || new_end != run.ended || untouched) {
            auto record = record_about(recorder.tracking(), id);
            record.append("status", new_status);
            record.append("ended", new_end);
            record.append("time", wall_milliseconds());
            records.emplace_back(std::move(record));
        }
        if (!name.empty() && name != run.name) {
            auto record = record_about(recorder.tracking(), id);
            record.append("tag", name_tag);
            record.append("value", name);
            record.append("time", wall_milliseconds());
            records.emplace_back(std::move(record));
        }
        return records;
    }));
    return recorder.look([&](const TrackedState& state) -> Result<Answer> {
        const auto& run = *state.find_run(id);
        const auto experiment = experiment_of(recorder, state, run, client_context);
        return reply({{"run_info", run_info(recorder.tracking(), run, experiment)}});
    });
}

Result<LoggedBatch> tags_of_new_run(const Fields& fields, const std::string& name)
{
    LoggedBatch batch;
    for (const auto& entry : TRY(fields.objects("tags"))) {
        batch.tags.push_back(TRY(tag_of(entry)));
        const auto& [key, value] = batch.tags.back();
        if (key == name_tag && !name.empty() && value != name) {
            return fail(ErrorKind::invalid_argument,
                        "Both 'run_name' argument and 'mlflow.runName' tag are specified, but with "
                        "different values (run_name='{}', mlflow.runName='{}')",
                        name,
                        value);
        }
    }
    if (!name.empty()) batch.tags.emplace_back(name_tag, name);
    return batch;
}

bool names_parent(const LoggedBatch& batch)
{
    return std::any_of(batch.tags.begin(), batch.tags.end(), [](const mlflow::LoggedText& tag) {
        return tag.first == "mlflow.parentRunId";
    });
}

// The first run that a script makes is the one that it is part of; the others are its children.
Result<Answer> create_run(Recorder& recorder, const Call& call)
{
    const auto& tracking = recorder.tracking();
    const auto experiment = TRY(call.fields.find_text("experiment_id")).value_or("0");
    if (!is_own_experiment(recorder, experiment)) return Answer();
    const auto name = TRY(call.fields.find_text("run_name")).value_or("");
    const auto user = TRY(call.fields.find_text("user_id")).value_or("");
    auto batch = TRY(tags_of_new_run(call.fields, name));
    const auto client_context = client_context_of(call.request);
    const bool is_known = client_context.active || find_other_name(recorder, experiment);
    const auto home =
        is_known ? name_for(recorder, client_context, experiment) : recorder.names().of_new_run();
    std::string id;
    TRY(recorder.write([&](const TrackedState& state) -> Result<JsonArray> {
        if (!state.is_taken() && !names_parent(batch)) {
            id = tracking.run;
            if (tracking.is_named)
                std::erase_if(batch.tags, [](const auto& tag) { return tag.first == name_tag; });
            auto records = TRY(records_of(batch, state.own(), {}));
            for (auto& record : renaming(state, home))
                records.push_back(std::move(record));
            records.emplace_back(JsonObject{{"status", "RUNNING"}, {"ended", 0}});
            return records;
        }
        id = RunId::make().text();
        if (!names_parent(batch)) batch.tags.emplace_back("mlflow.parentRunId", tracking.run);
        if (!home.empty()) batch.tags.emplace_back(other_name_tag, home);
        TrackedRun run;
        run.id = id;
        auto about = record_about(tracking, id);
        auto made = about;
        made.append("made", name.empty() ? "run-" + id.substr(24) : name);
        made.append("user", user);
        made.append("time", TRY(call.fields.find_integer("start_time")).value_or(0));
        JsonArray records{std::move(made)};
        for (auto& record : TRY(records_of(batch, run, about)))
            records.push_back(std::move(record));
        return records;
    }));
    return recorder.look([&](const TrackedState& state) -> Result<Answer> {
        const auto& run = *state.find_run(id);
        return reply(
            {{"run",
              run_json(tracking, run, experiment_of(recorder, state, run, client_context))}});
    });
}

// Profiles and schemas can be larger than a record: they are left out then.
Result<Json> dataset_of(const Fields& fields)
{
    const auto dataset = TRY(fields.find_object("dataset"));
    if (!dataset) return tl::unexpected(fields.missing("dataset"));
    JsonObject out;
    const std::pair<const char*, std::size_t> required[] = {{"name", limits::dataset_name},
                                                            {"digest", limits::dataset_digest},
                                                            {"source_type", limits::key},
                                                            {"source", limits::dataset_source}};
    for (const auto& [name, most] : required) {
        auto value = TRY(dataset->text(name));
        TRY(mlflow::check_length(name, value, most));
        out.append(name, std::move(value));
    }
    constexpr std::size_t fits = 400'000;
    const std::pair<const char*, std::size_t> optional[] = {{"schema", limits::dataset_schema},
                                                            {"profile", limits::dataset_profile}};
    for (const auto& [name, most] : optional) {
        auto value = TRY(dataset->find_text(name));
        if (!value) continue;
        TRY(mlflow::check_length(name, *value, most));
        if (value->size() <= fits) out.append(name, std::move(*value));
    }
    return out;
}

Result<JsonArray> input_tags_of(const Fields& fields)
{
    JsonArray tags;
    for (const auto& tag : TRY(fields.objects("tags"))) {
        auto key = TRY(tag.text("key"));
        auto value = TRY(tag.find_text("value")).value_or("");
        TRY(mlflow::check_length("key", key, limits::input_tag_key));
        TRY(mlflow::check_length("value", value, limits::input_tag_value));
        tags.emplace_back(JsonObject{{"key", std::move(key)}, {"value", std::move(value)}});
    }
    return tags;
}

bool has_dataset(const TrackedRun& run, const Json& dataset)
{
    return std::any_of(run.datasets.begin(), run.datasets.end(), [&dataset](const Json& known) {
        return known["dataset"].text("name") == dataset.text("name") &&
               known["dataset"].text("digest") == dataset.text("digest");
    });
}

// What the run has already is not written again: scripts log their data in every epoch.
bool is_new(const Json& record, const TrackedRun& run)
{
    if (record["dataset"].is_object()) return !has_dataset(run, record["dataset"]);
    if (record["model_input"].is_string())
        return !run.model_inputs.contains(record.text("model_input"));
    const auto known = run.model_outputs.find(record.text("model_output"));
    return known == run.model_outputs.end() || known->second != record.integer("step");
}

Result<Answer> write_new(Recorder& recorder, const std::string& run, const JsonArray& records)
{
    return done(recorder.write([&](const TrackedState& state) -> Result<JsonArray> {
        JsonArray added;
        for (const auto& record : records) {
            if (is_new(record, *state.find_run(run))) added.push_back(record);
        }
        return added;
    }));
}

Result<Answer> log_inputs(Recorder& recorder, const Call& call)
{
    const auto run = TRY(call.fields.run_id());
    if (!TRY(is_writable(recorder, run))) return Answer();
    JsonArray records;
    for (const auto& input : TRY(call.fields.objects("datasets"))) {
        auto record = record_about(recorder.tracking(), run);
        record.append("dataset", TRY(dataset_of(input)));
        record.append("tags", TRY(input_tags_of(input)));
        record.append("time", wall_milliseconds());
        records.emplace_back(std::move(record));
    }
    for (const auto& model : TRY(call.fields.objects("models"))) {
        auto record = record_about(recorder.tracking(), run);
        record.append("model_input", TRY(model.text("model_id")));
        records.emplace_back(std::move(record));
    }
    return write_new(recorder, run, records);
}

Result<Answer> log_outputs(Recorder& recorder, const Call& call)
{
    const auto run = TRY(call.fields.run_id());
    if (!TRY(is_writable(recorder, run))) return Answer();
    const auto models = TRY(call.fields.objects("models"));
    if (models.empty()) return tl::unexpected(call.fields.missing("models"));
    JsonArray records;
    for (const auto& model : models) {
        auto record = record_about(recorder.tracking(), run);
        record.append("model_output", TRY(model.text("model_id")));
        record.append("step", TRY(model.find_integer("step")).value_or(0));
        record.append("time", wall_milliseconds());
        records.emplace_back(std::move(record));
    }
    return write_new(recorder, run, records);
}

// Clients before MLflow 3 list a run's models in a tag.
Result<Answer> log_model(Recorder& recorder, const Call& call)
{
    const auto run = TRY(call.fields.run_id());
    if (!TRY(is_writable(recorder, run))) return Answer();
    const auto summary = TRY(mlflow::model_summary(TRY(call.fields.text("model_json"))));
    return done(recorder.write([&](const TrackedState& state) -> Result<JsonArray> {
        const auto& tags = state.find_run(run)->tags;
        const auto known = tags.find(mlflow::model_history_tag);
        auto models = known == tags.end() ? Result<Json>(Json()) : parse_json(known->second);
        JsonArray all = models && models->is_array() ? models->as_array() : JsonArray();
        all.push_back(summary);
        auto text = to_json(all);
        if (text.size() > longest_model_history)
            return fail(ErrorKind::invalid_argument, "The run lists too many models already");
        auto record = record_about(recorder.tracking(), run);
        record.append("tag", mlflow::model_history_tag);
        record.append("value", std::move(text));
        record.append("time", wall_milliseconds());
        return JsonArray{std::move(record)};
    }));
}

}  // namespace

Result<> note_deletion(Recorder& recorder, const net::Request& request)
{
    const auto& path = request.path;
    const bool deletes = path.size() > 1 && path.back() == "delete";
    const bool restores = path.size() > 1 && path.back() == "restore";
    if ((!deletes && !restores) || path[path.size() - 2] != "runs") return {};
    const auto run = TRY(TRY(Fields::of(request)).run_id());
    return recorder.write([&](const TrackedState& state) -> Result<JsonArray> {
        if (!state.find_run(run)) return JsonArray();
        auto record = record_about(recorder.tracking(), run);
        record.append("deleted", deletes);
        record.append("time", wall_milliseconds());
        return JsonArray{std::move(record)};
    });
}

std::span<const Route> run_calls()
{
    static constexpr Route table[] = {
        {"POST", "/api/2.0/mlflow/runs/log-metric", log_metric},
        {"POST", "/api/2.0/mlflow/runs/log-batch", log_batch},
        {"POST", "/api/2.0/mlflow/runs/log-parameter", log_param},
        {"POST", "/api/2.0/mlflow/runs/set-tag", set_tag},
        {"POST", "/api/2.0/mlflow/runs/delete-tag", delete_tag},
        {"GET", "/api/2.0/mlflow/runs/get", show_run},
        {"POST", "/api/2.0/mlflow/runs/update", update_run},
        {"POST", "/api/2.0/mlflow/runs/create", create_run},
        {"POST", "/api/2.0/mlflow/runs/log-inputs", log_inputs},
        {"POST", "/api/2.0/mlflow/runs/outputs", log_outputs},
        {"POST", "/api/2.0/mlflow/runs/log-model", log_model},
    };
    return table;
}

}  // namespace ponk::relay
