// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "model/run_fields.hpp"
#include "model/run_words.hpp"
#include "store/copy/copies.hpp"
#include "store/copy/copy_fields.hpp"

namespace ponk::store {

namespace {

// In milliseconds where they are told so, else as people read them.
Result<std::int64_t> time_of(const Json& run, std::string_view name, std::string_view shown)
{
    if (run["times"].is_object()) return integer_of(run["times"], name);
    const auto text = TRY(text_of(run, shown));
    if (text.empty()) return 0;
    const auto time = parse_utc(text);
    if (!time) return wrong(shown, "a time");
    return *time;
}

Result<> read_tags(const Json& json, model::Run& run)
{
    for (const auto& [key, value] : TRY(pairs_of(json, "params")))
        run.tags.emplace_back(std::string(model::parameter_prefix) + key, value);
    for (const auto& [key, value] : TRY(pairs_of(json, "tags"))) {
        if (key == parent_tag && run.parent.empty()) {
            run.parent = value;  // lines of earlier versions
        } else {
            run.tags.emplace_back(model::stored_tag(key), value);
        }
    }
    return {};
}

Result<model::Run> read_run(const Json& json)
{
    model::Run run;
    if (!json["status"].is_string()) return wrong("status", "the state of a run");
    TRY(model::read_run(json, model::RunForm::copy, run));
    if (run.id == RunId()) return wrong("run_id", "the id of a run");
    run.created = TRY(time_of(json, "created", "created_utc"));
    run.started = TRY(time_of(json, "started", "start_time_utc"));
    run.ended = TRY(time_of(json, "ended", "end_time_utc"));
    TRY(read_tags(json, run));
    return run;
}

Result<RunInputs> parse_inputs(const Json& json)
{
    RunInputs inputs;
    if (json.is_null()) return inputs;
    if (json["datasets"].is_array()) {
        for (const auto& item : json["datasets"].as_array()) {
            auto& input = inputs.datasets.emplace_back();
            input.dataset.name = TRY(text_of(item, "name"));
            input.dataset.digest = TRY(text_of(item, "digest"));
            input.dataset.source_type = TRY(text_of(item, "source_type"));
            input.dataset.source = TRY(text_of(item, "source"));
            input.dataset.schema = TRY(optional_text_of(item, "schema"));
            input.dataset.profile = TRY(optional_text_of(item, "profile"));
            input.tags = TRY(pairs_of(item, "tags"));
        }
    }
    inputs.models = TRY(texts_of(json, "models"));
    if (json["outputs"].is_array()) {
        for (const auto& item : json["outputs"].as_array()) {
            auto& output = inputs.outputs.emplace_back();
            output.model = TRY(text_of(item, "model"));
            output.step = TRY(integer_of(item, "step"));
        }
    }
    return inputs;
}

Result<std::vector<Event>> parse_events(const Json& json)
{
    std::vector<Event> events;
    if (json.is_null()) return events;
    if (!json.is_array()) return wrong("events", "a list");
    for (const auto& item : json.as_array()) {
        const auto time = parse_utc(TRY(text_of(item, "time")));
        if (!time) return wrong("events.time", "a time");
        const auto number = TRY(integer_of(item, "seq"));
        if (number <= (events.empty() ? 0 : events.back().number))
            return wrong("events.seq", "a number that counts up");
        auto kind = TRY(text_of(item, "kind"));
        auto text = TRY(text_of(item, "text"));
        events.push_back({number, *time, std::move(kind), std::move(text)});
    }
    return events;
}

}  // namespace

Json experiment_json(const ExperimentCopy& experiment)
{
    const bool folder = experiment.kind == ExperimentCopy::Kind::folder;
    return JsonObject{{"id", experiment.id},
                      {"name", experiment.name},
                      {"project", experiment.project},
                      {"project_name", experiment.project_name},
                      {"path", experiment.path},
                      {"origin", folder ? "folder" : "client"},
                      {"location", experiment.location},
                      {"deleted", experiment.deleted},
                      {"created", experiment.created},
                      {"updated", experiment.updated},
                      {"tags", pairs_json(experiment.tags)}};
}

Result<ExperimentCopy> parse_experiment(const Json& json)
{
    if (!json.is_object()) return wrong("experiment", "an object");
    ExperimentCopy copy;
    copy.id = TRY(integer_of(json, "id"));
    copy.project = TRY(text_of(json, "project"));
    copy.project_name = TRY(text_of(json, "project_name"));
    copy.path = TRY(text_of(json, "path"));
    copy.kind = TRY(text_of(json, "origin")) == "folder" ? ExperimentCopy::Kind::folder
                                                         : ExperimentCopy::Kind::client;
    copy.name = TRY(text_of(json, "name"));
    copy.location = TRY(text_of(json, "location"));
    copy.deleted = TRY(integer_of(json, "deleted"));
    copy.created = TRY(integer_of(json, "created"));
    copy.updated = TRY(integer_of(json, "updated"));
    copy.tags = TRY(pairs_of(json, "tags"));
    if (copy.name.empty()) return wrong("experiment.name", "the name of an experiment");
    return copy;
}

Json run_copy_json(const RunCopy& copy)
{
    auto object = model::write_run(copy.run, model::RunForm::copy);
    object.append("times",
                  JsonObject{{"created", copy.run.created},
                             {"started", copy.run.started},
                             {"ended", copy.run.ended},
                             {"deleted", copy.deleted}});
    object.append("origin", to_string(copy.origin));
    return object;
}

Json inputs_json(const RunInputs& inputs)
{
    JsonArray datasets;
    for (const auto& input : inputs.datasets) {
        datasets.emplace_back(JsonObject{{"name", input.dataset.name},
                                         {"digest", input.dataset.digest},
                                         {"source_type", input.dataset.source_type},
                                         {"source", input.dataset.source},
                                         {"schema", optional_text(input.dataset.schema)},
                                         {"profile", optional_text(input.dataset.profile)},
                                         {"tags", pairs_json(input.tags)}});
    }
    JsonArray outputs;
    for (const auto& output : inputs.outputs)
        outputs.emplace_back(JsonObject{{"model", output.model}, {"step", output.step}});
    return JsonObject{{"datasets", std::move(datasets)},
                      {"models", JsonArray(inputs.models.begin(), inputs.models.end())},
                      {"outputs", std::move(outputs)}};
}

Json events_json(const std::vector<Event>& events)
{
    JsonArray list;
    for (const auto& event : events) {
        list.emplace_back(JsonObject{{"seq", event.number},
                                     {"time", utc_text(event.time)},
                                     {"kind", event.kind},
                                     {"text", event.text}});
    }
    return list;
}

Result<RunCopy> parse_run_copy(const Json& run, const Json& inputs, const Json& events)
{
    if (!run.is_object()) return wrong("run", "an object");
    RunCopy copy;
    copy.run = TRY(read_run(run));
    const auto origin = TRY(text_of(run, "origin"));
    const bool client =
        origin.empty() ? copy.run.target_type == model::client_target : origin == "client";
    copy.origin = client ? Origin::client : Origin::engine;
    if (client && copy.run.target_type.empty()) copy.run.target_type = model::client_target;
    if (client && copy.run.target_type != model::client_target)
        return wrong("target_type",
                     fmt::format("'{}' for a run of a client", model::client_target));
    if (run["times"].is_object()) copy.deleted = TRY(integer_of(run["times"], "deleted"));
    copy.inputs = TRY(parse_inputs(inputs));
    copy.events = TRY(parse_events(events));
    return copy;
}

}  // namespace ponk::store
