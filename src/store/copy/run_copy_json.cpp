// SPDX-License-Identifier: Apache-2.0
#include "base/field_json.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "model/run_fields.hpp"
#include "model/run_words.hpp"
#include "store/copy/copies.hpp"

namespace ponk::store {

namespace {

using fields::wrong;

// In milliseconds where they are told so, else as people read them.
Result<std::int64_t> time_of(const Json& run, std::string_view name, std::string_view shown)
{
    std::int64_t number = 0;
    if (run["times"].is_object()) {
        TRY(read_member(run["times"], name, number));
        return number;
    }
    std::string text;
    TRY(read_member(run, shown, text));
    if (text.empty()) return 0;
    const auto time = parse_utc(text);
    if (!time) return wrong(shown, "a time");
    return *time;
}

Result<> read_tags(const Json& json, model::Run& run)
{
    Pairs params;
    TRY(read_member(json, "params", params));
    for (const auto& [key, value] : params)
        run.tags.emplace_back(std::string(model::parameter_prefix) + key, value);
    Pairs tags;
    TRY(read_member(json, "tags", tags));
    for (const auto& [key, value] : tags) {
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
            TRY(read_fields(item, input.dataset, "datasets"));
            TRY(read_member(item, "tags", input.tags));
        }
    }
    TRY(read_member(json, "models", inputs.models));
    TRY(read_member(json, "outputs", inputs.outputs));
    return inputs;
}

Result<std::vector<Event>> parse_events(const Json& json)
{
    std::vector<Event> events;
    if (json.is_null()) return events;
    if (!json.is_array()) return wrong("events", "a list");
    for (const auto& item : json.as_array()) {
        std::string time;
        Event event;
        TRY(read_member(item, "time", time));
        TRY(read_member(item, "seq", event.number));
        TRY(read_member(item, "kind", event.kind));
        TRY(read_member(item, "text", event.text));
        const auto parsed = parse_utc(time);
        if (!parsed) return wrong("events.time", "a time");
        event.time = *parsed;
        if (event.number <= (events.empty() ? 0 : events.back().number))
            return wrong("events.seq", "a number that counts up");
        events.push_back(std::move(event));
    }
    return events;
}

}  // namespace

Json experiment_json(const ExperimentCopy& experiment)
{
    return fields_to_json(experiment);
}

Result<ExperimentCopy> parse_experiment(const Json& json)
{
    ExperimentCopy copy;
    TRY(read_fields(json, copy, "experiment"));
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
        auto json = fields_to_json(input.dataset);
        json.as_object().set("tags", fields::write(input.tags));
        datasets.push_back(std::move(json));
    }
    return JsonObject{{"datasets", std::move(datasets)},
                      {"models", fields::write(inputs.models)},
                      {"outputs", fields::write(inputs.outputs)}};
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
    std::string origin;
    TRY(read_member(run, "origin", origin));
    const bool client =
        origin.empty() ? copy.run.target_type == model::client_target : origin == "client";
    copy.origin = client ? Origin::client : Origin::engine;
    if (client && copy.run.target_type.empty()) copy.run.target_type = model::client_target;
    if (client && copy.run.target_type != model::client_target)
        return wrong("target_type",
                     fmt::format("'{}' for a run of a client", model::client_target));
    TRY(read_member(run["times"], "deleted", copy.deleted));
    copy.inputs = TRY(parse_inputs(inputs));
    copy.events = TRY(parse_events(events));
    return copy;
}

}  // namespace ponk::store
