// SPDX-License-Identifier: Apache-2.0
#include "base/base64.hpp"
#include "base/text.hpp"
#include "base/work_budget.hpp"
#include "mlflow/lone_surrogates.hpp"
#include "mlflow/otlp.hpp"

#include <algorithm>

// The same requests as texts: names as in the protocol buffers, in one word or with underscores;
// ids are hex digits, long numbers are texts or numbers.
namespace ponk::mlflow {

namespace {

constexpr std::size_t trace_digits = 32;
constexpr std::size_t span_digits = 16;
// A list in a list is three deep here.
constexpr std::size_t deepest = 120;

tl::unexpected<Error> wrong(std::string_view what)
{
    return fail(ErrorKind::invalid_argument, "Invalid OpenTelemetry format: {}", what);
}

// "traceId" or "trace_id"
const Json& member(const Json& object, std::string_view name)
{
    const auto& found = object[name];
    if (!found.is_null() || !object.is_object()) return found;
    std::string other;
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z') other += '_';
        other += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return object[other];
}

Result<const JsonArray*> list_at(const Json& object, std::string_view name)
{
    static const JsonArray none;
    const auto& list = member(object, name);
    if (list.is_null()) return &none;
    if (!list.is_array()) return wrong(fmt::format("{} that is not a list", name));
    return &list.as_array();
}

Result<std::string> text_at(const Json& object, std::string_view name)
{
    const auto& text = member(object, name);
    if (text.is_null()) return std::string();
    if (!text.is_string()) return wrong(fmt::format("{} that is not a text", name));
    return text.as_string();
}

Result<std::int64_t> integer_of(const Json& value, std::string_view name)
{
    if (value.is_null()) return std::int64_t{0};
    if (value.is_integer()) return value.as_integer();
    const auto number = value.is_string() ? parse_integer(value.as_string()) : std::nullopt;
    if (!number) return wrong(fmt::format("{} that is not a whole number", name));
    return *number;
}

Result<std::int64_t> time_at(const Json& object, std::string_view name)
{
    const auto time = TRY(integer_of(member(object, name), name));
    if (time < 0) return wrong(fmt::format("{} before 1970", name));
    return time;
}

std::optional<std::string> hex_of(const std::string& text, std::size_t digits)
{
    if (text.size() != digits) return std::nullopt;
    const auto bytes = from_hex(text);
    if (!bytes) return std::nullopt;
    return to_hex(*bytes);  // in lower case
}

Result<std::string> id_at(const Json& object, std::string_view name, std::size_t digits)
{
    auto id = hex_of(TRY(text_at(object, name)), digits);
    if (!id) return wrong(fmt::format("a {} that is not {} hex digits", name, digits));
    return std::move(*id);
}

Result<JsonObject> attributes_of(const Json& object, std::string_view name);

Result<Json> value_of(const Json& value)
{
    const auto& text = member(value, "stringValue");
    if (text.is_string()) return text;
    const auto& flag = member(value, "boolValue");
    if (flag.is_bool()) return flag;
    const auto& integer = member(value, "intValue");
    if (!integer.is_null()) return Json(TRY(integer_of(integer, "intValue")));
    const auto& real = member(value, "doubleValue");
    if (real.is_number()) return Json(real.as_double());
    // What JSON cannot say is a text.
    if (real == Json("NaN") || real == Json("Infinity") || real == Json("-Infinity")) return real;
    if (!real.is_null()) return wrong("doubleValue that is not a number");
    const auto& list = member(value, "arrayValue");
    if (list.is_object()) {
        JsonArray values;
        for (const auto& one : *TRY(list_at(list, "values")))
            values.push_back(TRY(value_of(one)));
        return Json(std::move(values));
    }
    const auto& map = member(value, "kvlistValue");
    if (map.is_object()) return Json(TRY(attributes_of(map, "values")));
    const auto bytes = from_base64(TRY(text_at(value, "bytesValue")));
    if (!bytes) return wrong("a bytesValue that is not base64");
    return bytes->empty() ? Json() : Json(to_hex(*bytes));
}

Result<JsonObject> attributes_of(const Json& object, std::string_view name)
{
    JsonObject attributes;
    for (const auto& pair : *TRY(list_at(object, name)))
        attributes.set(TRY(text_at(pair, "key")), TRY(value_of(member(pair, "value"))));
    return attributes;
}

Result<Json> event_of(const Json& event)
{
    JsonObject read;
    read.set("name", TRY(text_at(event, "name")));
    read.set("time_unix_nano", TRY(time_at(event, "timeUnixNano")));
    read.set("attributes", TRY(attributes_of(event, "attributes")));
    return read;
}

// One with ids of other lengths is left out: nothing here has such an id.
Result<> add_link(OtlpSpan& span, const Json& link)
{
    const auto trace = hex_of(TRY(text_at(link, "traceId")), trace_digits);
    const auto id = hex_of(TRY(text_at(link, "spanId")), span_digits);
    if (!trace || !id) return {};
    auto attributes = TRY(attributes_of(link, "attributes"));
    span.links.emplace_back(
        JsonObject{{"trace_id", *trace}, {"span_id", *id}, {"attributes", std::move(attributes)}});
    return {};
}

OtlpSpan::Status status_of(const Json& code)
{
    const bool number = code.is_integer();
    if (number ? code.as_integer() == 1 : code == Json("STATUS_CODE_OK"))
        return OtlpSpan::Status::ok;
    if (number ? code.as_integer() == 2 : code == Json("STATUS_CODE_ERROR"))
        return OtlpSpan::Status::error;
    return OtlpSpan::Status::unset;
}

Result<OtlpSpan> span_of(const Json& json)
{
    OtlpSpan span;
    span.trace = TRY(id_at(json, "traceId", trace_digits));
    span.id = TRY(id_at(json, "spanId", span_digits));
    if (!TRY(text_at(json, "parentSpanId")).empty())
        span.parent = TRY(id_at(json, "parentSpanId", span_digits));
    span.name = TRY(text_at(json, "name"));
    span.began = TRY(time_at(json, "startTimeUnixNano"));
    span.ended = TRY(time_at(json, "endTimeUnixNano"));
    span.attributes = TRY(attributes_of(json, "attributes"));
    for (const auto& event : *TRY(list_at(json, "events")))
        span.events.push_back(TRY(event_of(event)));
    for (const auto& link : *TRY(list_at(json, "links")))
        TRY(add_link(span, link));
    const auto& status = member(json, "status");
    span.status = status_of(status["code"]);
    span.message = TRY(text_at(status, "message"));
    return span;
}

Result<std::shared_ptr<const JsonObject>> resource_of(const Json& resource)
{
    if (TRY(list_at(resource, "attributes"))->size() > most_resource_attributes)
        return wrong(fmt::format("a resource with more than {} attributes: give it fewer",
                                 most_resource_attributes));
    auto attributes = TRY(attributes_of(resource, "attributes"));
    std::size_t size = 0;
    for (const auto& [key, value] : attributes)
        size += key.size() + to_json(value).size();
    if (size > most_resource_bytes)
        return wrong(fmt::format("a resource of more than {}: give it fewer attributes",
                                 byte_size_text(most_resource_bytes)));
    return std::make_shared<const JsonObject>(std::move(attributes));
}

Result<> read_resource_spans(std::vector<OtlpSpan>& spans, const Json& group)
{
    const auto resource = TRY(resource_of(member(group, "resource")));
    for (const auto& scope : *TRY(list_at(group, "scopeSpans"))) {
        for (const auto& json : *TRY(list_at(scope, "spans"))) {
            TRY(check_work());
            if (spans.size() == most_spans)
                return wrong(
                    fmt::format("more than {} spans in one request: send fewer", most_spans));
            spans.push_back(TRY(span_of(json)));
            spans.back().resource = resource;
        }
    }
    return {};
}

}  // namespace

Result<std::vector<OtlpSpan>> read_otlp_json(std::string_view text)
{
    if (has_lone_surrogate(text)) return wrong("it has half of a surrogate pair");
    const auto request = parse_json(text, {.depth = deepest});
    if (!request) return wrong(request.error().message());
    if (!request->is_object()) return wrong("it is not an object");
    std::vector<OtlpSpan> spans;
    for (const auto& group : *TRY(list_at(*request, "resourceSpans")))
        TRY(read_resource_spans(spans, group));
    if (spans.empty())
        return fail(ErrorKind::invalid_argument, "Invalid OpenTelemetry format - no spans found");
    return spans;
}

}  // namespace ponk::mlflow
