// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "mlflow/names.hpp"
#include "mlflow/trace_time.hpp"
#include "relay/calls.hpp"
#include "relay/logged.hpp"

#include <algorithm>

// Traces that the script logs. Their spans are files, which go where other artifacts go.
namespace ponk::relay {

namespace {

namespace limits = mlflow::limits;

// It names a folder.
Result<std::string> trace_id_of(const Fields& fields)
{
    auto id = TRY(fields.text("trace_id"));
    const bool legal = id.size() <= limits::key && !id.empty() && id != "." && id != ".." &&
                       std::all_of(id.begin(), id.end(), [](char c) {
                           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                                  (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
                       });
    if (!legal) return tl::unexpected(fields.invalid("trace_id"));
    return id;
}

Result<JsonObject> map_of(const Fields& fields, std::string_view name)
{
    JsonObject pairs;
    const auto map = TRY(fields.find_object(name));
    if (!map) return pairs;
    for (const auto& [key, value] : map->json().as_object()) {
        if (!value.is_string() || key.empty()) return tl::unexpected(map->invalid(key));
        TRY(mlflow::check_length("key", key, limits::key));
        pairs.set(key, first_characters(value.as_string(), limits::tag_value));
    }
    return pairs;
}

Result<std::string> state_of(const Fields& fields)
{
    const auto text = TRY(fields.find_text("state"));
    if (!text || *text == "STATE_UNSPECIFIED") return std::string("STATE_UNSPECIFIED");
    return TRY(fields.find_name("state", {"OK", "ERROR", "IN_PROGRESS"})).value();
}

// A text that is there, cut.
Result<> add_preview(JsonObject& record, const char* name, const Fields& info, const char* field)
{
    if (auto text = TRY(info.find_text(field)))
        record.append(name, first_characters(std::move(*text), limits::trace_preview));
    return {};
}

Result<JsonObject> record_of(const Fields& info, const std::string& id)
{
    const auto time = mlflow::parse_trace_time(TRY(info.text("request_time")));
    if (!time) return tl::unexpected(info.invalid("request_time"));
    const auto state = TRY(state_of(info));
    JsonObject record{{"trace", id}, {"began", *time}, {"state", state}};
    if (const auto text = TRY(info.find_text("execution_duration"))) {
        const auto duration = mlflow::parse_trace_duration(*text);
        if (!duration) return tl::unexpected(info.invalid("execution_duration"));
        record.append("duration", *duration);
    }
    TRY(add_preview(record, "client_id", info, "client_request_id"));
    TRY(add_preview(record, "request", info, "request_preview"));
    TRY(add_preview(record, "response", info, "response_preview"));
    record.append("metadata", TRY(map_of(info, "trace_metadata")));
    record.append("tags", TRY(map_of(info, "tags")));
    record.append("time", wall_milliseconds());
    return record;
}

Result<> write(Recorder& recorder, JsonObject record)
{
    return recorder.write(
        [&record](const TrackedState&) -> Result<JsonArray> { return JsonArray{record}; });
}

// The answer is what was sent, and where the spans belong.
Result<Answer> start_trace(Recorder& recorder, const Call& call)
{
    const auto info = TRY(TRY(call.fields.object("trace")).object("trace_info"));
    const auto place = TRY(TRY(info.object("trace_location")).object("mlflow_experiment"));
    const auto& tracking = recorder.tracking();
    const auto experiment = TRY(place.text("experiment_id"));
    if (!is_own_experiment(recorder, experiment)) return Answer();
    const auto id = TRY(trace_id_of(info));
    const auto record = TRY(record_of(info, id));
    TRY(write(recorder, record));
    auto told = info.json().as_object();
    auto tags = record.find("tags")->as_object();
    tags.set("mlflow.artifactLocation",
             fmt::format("mlflow-artifacts:/{}/traces/{}/artifacts", tracking.experiment, id));
    told.set("tags", std::move(tags));
    told.set("trace_location",
             JsonObject{{"type", "MLFLOW_EXPERIMENT"},
                        {"mlflow_experiment", JsonObject{{"experiment_id", tracking.experiment}}}});
    return reply({{"trace", JsonObject{{"trace_info", std::move(told)}}}});
}

bool is_known(const Recorder& recorder, const std::string& id)
{
    return recorder.look([&id](const TrackedState& state) { return state.has_trace(id); });
}

Result<Answer> tag_trace(Recorder& recorder, const Call& call)
{
    const auto& id = call.variables.front();
    if (!is_known(recorder, id)) return Answer();
    auto [key, value] = TRY(tag_of(call.fields));
    TRY(write(recorder,
              {{"trace", id}, {"tags", JsonObject{{key, value}}}, {"time", wall_milliseconds()}}));
    return reply();
}

Result<Answer> untag_trace(Recorder& recorder, const Call& call)
{
    const auto& id = call.variables.front();
    if (!is_known(recorder, id)) return Answer();
    const auto key = TRY(call.fields.text("key"));
    TRY(write(recorder, {{"trace", id}, {"untag", key}, {"time", wall_milliseconds()}}));
    return reply();
}

}  // namespace

std::span<const Route> trace_calls()
{
    static constexpr Route table[] = {
        {"POST", "/api/3.0/mlflow/traces", start_trace},
        {"PATCH", "/api/3.0/mlflow/traces/{id}/tags", tag_trace},
        {"DELETE", "/api/3.0/mlflow/traces/{id}/tags", untag_trace},
        {"PATCH", "/api/2.0/mlflow/traces/{id}/tags", tag_trace},
        {"DELETE", "/api/2.0/mlflow/traces/{id}/tags", untag_trace},
    };
    return table;
}

}  // namespace ponk::relay
