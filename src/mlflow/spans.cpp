// SPDX-License-Identifier: Apache-2.0
#include "mlflow/spans.hpp"

#include "base/base64.hpp"
#include "base/text.hpp"
#include "base/work_budget.hpp"

namespace ponk::mlflow {

namespace {

constexpr std::string_view prefix = "tr-";
constexpr std::string_view id_attribute = "mlflow.traceRequestId";
// Memory of an object with a name and a value, as protocol buffers have them in JSON.
constexpr std::size_t object_size = 200;

std::string base64_of(const std::string& hex)
{
    return to_base64(from_hex(hex).value_or(""));
}

std::string_view code_of(OtlpSpan::Status status)
{
    switch (status) {
    case OtlpSpan::Status::ok:
        return "STATUS_CODE_OK";
    case OtlpSpan::Status::error:
        return "STATUS_CODE_ERROR";
    case OtlpSpan::Status::unset:
        break;
    }
    return "STATUS_CODE_UNSET";
}

// A text that is no JSON is itself.
Json read_text(const std::string& text)
{
    auto value = parse_json(text, {.odd_numbers = true});
    return value ? std::move(*value) : Json(text);
}

Json any_value(const Json& value)
{
    switch (value.type()) {
    case Json::Type::null:
        return JsonObject();
    case Json::Type::boolean:
        return JsonObject{{"bool_value", value}};
    case Json::Type::integer:
        return JsonObject{{"int_value", std::to_string(value.as_integer())}};
    case Json::Type::real:
        return JsonObject{{"double_value", value}};
    case Json::Type::string:
        return JsonObject{{"string_value", value}};
    default:
        break;
    }
    JsonArray values;
    if (value.is_array()) {
        for (const auto& one : value.as_array())
            values.push_back(any_value(one));
        return JsonObject{{"array_value", JsonObject{{"values", std::move(values)}}}};
    }
    for (const auto& [key, one] : value.as_object())
        values.emplace_back(JsonObject{{"key", key}, {"value", any_value(one)}});
    return JsonObject{{"kvlist_value", JsonObject{{"values", std::move(values)}}}};
}

std::size_t values_in(const Json& value)
{
    std::size_t count = 1;
    if (value.is_array()) {
        for (const auto& one : value.as_array())
            count += values_in(one);
    }
    if (value.is_object()) {
        for (const auto& [key, one] : value.as_object())
            count += 1 + values_in(one);
    }
    return count;
}

// Two bytes of a list become such an object: they are charged before they are made.
Result<JsonArray> pairs_of(const Json& attributes)
{
    TRY(charge_answer(values_in(attributes) * object_size));
    JsonArray pairs;
    if (!attributes.is_object()) return pairs;
    for (const auto& [key, value] : attributes.as_object())
        pairs.emplace_back(JsonObject{{"key", key}, {"value", any_value(value)}});
    return pairs;
}

// Attributes of a span are kept as texts.
Json read_texts(const Json& attributes)
{
    JsonObject values;
    if (!attributes.is_object()) return values;
    for (const auto& [key, text] : attributes.as_object())
        values.append(key, text.is_string() ? read_text(text.as_string()) : text);
    return values;
}

Result<Json> event_message(const Json& event)
{
    auto attributes = TRY(pairs_of(event["attributes"]));
    return JsonObject{{"time_unix_nano", std::to_string(event.integer("time_unix_nano"))},
                      {"name", event.text("name")},
                      {"attributes", std::move(attributes)}};
}

Result<Json> link_message(const Json& link)
{
    auto attributes = TRY(pairs_of(link["attributes"]));
    auto trace = link.text("trace_id");
    if (trace.starts_with(prefix)) trace.erase(0, prefix.size());
    return JsonObject{{"trace_id", base64_of(trace)},
                      {"span_id", base64_of(link.text("span_id"))},
                      {"attributes", std::move(attributes)}};
}

}  // namespace

std::string trace_id_of(const OtlpSpan& span)
{
    return std::string(prefix) + span.trace;
}

Json span_content(OtlpSpan span)
{
    JsonObject attributes;
    for (const auto& [key, value] : span.attributes)
        attributes.append(key, to_json(value));
    attributes.set(std::string(id_attribute), to_json(Json(trace_id_of(span))));
    for (auto& link : span.links)
        link.as_object().set("trace_id", std::string(prefix) + link.text("trace_id"));
    return JsonObject{
        {"trace_id", base64_of(span.trace)},
        {"span_id", base64_of(span.id)},
        {"parent_span_id", span.parent.empty() ? Json() : Json(base64_of(span.parent))},
        {"name", span.name},
        {"start_time_unix_nano", span.began},
        {"end_time_unix_nano", span.ended == 0 ? Json() : Json(span.ended)},
        {"events", std::move(span.events)},
        {"status", JsonObject{{"code", code_of(span.status)}, {"message", span.message}}},
        {"attributes", std::move(attributes)},
        {"links", std::move(span.links)}};
}

Result<Json> span_message(const Json& content)
{
    JsonObject message{
        {"trace_id", content["trace_id"]},
        {"span_id", content["span_id"]},
        {"name", content["name"]},
        {"start_time_unix_nano", std::to_string(content.integer("start_time_unix_nano"))}};
    if (content["parent_span_id"].is_string())
        message.set("parent_span_id", content["parent_span_id"]);
    if (content["end_time_unix_nano"].is_integer())
        message.set("end_time_unix_nano", std::to_string(content.integer("end_time_unix_nano")));
    message.set("attributes", TRY(pairs_of(read_texts(content["attributes"]))));
    JsonArray events;
    if (content["events"].is_array()) {
        for (const auto& event : content["events"].as_array())
            events.push_back(TRY(event_message(event)));
    }
    message.set("events", std::move(events));
    JsonArray links;
    if (content["links"].is_array()) {
        for (const auto& link : content["links"].as_array())
            links.push_back(TRY(link_message(link)));
    }
    message.set("links", std::move(links));
    message.set("status", content["status"]);
    return message;
}

Json attribute_of(const Json& content, std::string_view key)
{
    const auto& text = content["attributes"][key];
    return text.is_string() ? read_text(text.as_string()) : text;
}

}  // namespace ponk::mlflow
