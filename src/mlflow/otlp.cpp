// SPDX-License-Identifier: Apache-2.0
#include "mlflow/otlp.hpp"

#include "base/text.hpp"
#include "model/wire_reader.hpp"

#include <limits>

namespace ponk::mlflow {

namespace {

using model::WireReader;
using Kind = WireReader::Field::Kind;

constexpr int deepest = 32;
constexpr std::size_t most_values = 1'000'000;
constexpr std::size_t trace_bytes = 16;
constexpr std::size_t span_bytes = 8;
constexpr std::size_t event_members = 3;
constexpr std::size_t link_members = 3;

// Reads one request. What is wrong in it ends the reading with `problem`.
class Reader {
public:
    Result<std::vector<OtlpSpan>> read(std::string_view bytes)
    {
        each(bytes, [this](const auto& field) {
            if (field.is(1, Kind::bytes)) read_resource_spans(field.bytes);
        });
        if (!problem_.empty())
            return fail(ErrorKind::invalid_argument, "Invalid OpenTelemetry format: {}", problem_);
        return std::move(spans_);
    }

private:
    template <class Visit>
    void each(std::string_view bytes, Visit visit)
    {
        WireReader reader(bytes);
        while (problem_.empty()) {
            const auto field = reader.next();
            if (!field) break;
            visit(*field);
        }
        if (reader.failed()) say("it cannot be read as protocol buffers");
    }

    void say(std::string problem)
    {
        if (problem_.empty()) problem_ = std::move(problem);
    }

    void read_resource_spans(std::string_view bytes)
    {
        JsonObject resource;
        std::size_t size = 0;
        const auto first = spans_.size();
        each(bytes, [&](const auto& field) {
            if (field.is(1, Kind::bytes)) {
                size += field.bytes.size();
                if (size > most_resource_bytes)
                    return say(fmt::format("a resource of more than {}: give it fewer attributes",
                                           byte_size_text(most_resource_bytes)));
                read_resource(resource, field.bytes);
            }
            if (field.is(2, Kind::bytes)) {
                each(field.bytes, [&](const auto& one) {
                    if (one.is(2, Kind::bytes)) read_span(one.bytes);
                });
            }
        });
        if (first == spans_.size()) return;
        const auto shared = std::make_shared<const JsonObject>(std::move(resource));
        for (auto at = first; at < spans_.size(); ++at)
            spans_[at].resource = shared;
    }

    void read_resource(JsonObject& resource, std::string_view bytes)
    {
        each(bytes, [&](const auto& field) {
            if (!field.is(1, Kind::bytes)) return;
            add_pair(resource, field.bytes, 0);
            if (resource.size() > most_resource_attributes)
                say(fmt::format("a resource with more than {} attributes: give it fewer",
                                most_resource_attributes));
        });
    }

    void read_span(std::string_view bytes)
    {
        if (spans_.size() == most_spans)
            return say(fmt::format("more than {} spans in one request: send fewer", most_spans));
        OtlpSpan span;
        each(bytes, [&](const auto& field) { read_field(span, field); });
        if (span.trace.empty()) say("a span without trace_id");
        if (span.id.empty()) say("a span without span_id");
        spans_.push_back(std::move(span));
    }

    void read_field(OtlpSpan& span, const WireReader::Field& field)
    {
        if (field.is(1, Kind::bytes)) span.trace = id_of(field.bytes, trace_bytes, "trace_id");
        if (field.is(2, Kind::bytes)) span.id = id_of(field.bytes, span_bytes, "span_id");
        if (field.is(4, Kind::bytes) && !field.bytes.empty())
            span.parent = id_of(field.bytes, span_bytes, "parent_span_id");
        if (field.is(5, Kind::bytes)) span.name = field.bytes;
        if (field.is(7, Kind::fixed64)) span.began = time_of(field.value);
        if (field.is(8, Kind::fixed64)) span.ended = time_of(field.value);
        if (field.is(9, Kind::bytes)) add_pair(span.attributes, field.bytes, 0);
        if (field.is(11, Kind::bytes)) read_event(span, field.bytes);
        if (field.is(13, Kind::bytes)) read_link(span, field.bytes);
        if (field.is(15, Kind::bytes)) read_status(span, field.bytes);
    }

    std::string id_of(std::string_view bytes, std::size_t size, const char* what)
    {
        if (bytes.size() != size) say(fmt::format("a {} that has not {} bytes", what, size));
        return to_hex(bytes);
    }

    std::int64_t time_of(std::uint64_t value)
    {
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        if (value > static_cast<std::uint64_t>(most)) say("a time that is none");
        return static_cast<std::int64_t>(value);
    }

    void read_event(OtlpSpan& span, std::string_view bytes)
    {
        count(1 + event_members);
        JsonObject event{{"name", ""}, {"time_unix_nano", 0}};
        JsonObject attributes;
        each(bytes, [&](const auto& field) {
            if (field.is(1, Kind::fixed64)) event.set("time_unix_nano", time_of(field.value));
            if (field.is(2, Kind::bytes)) event.set("name", std::string(field.bytes));
            if (field.is(3, Kind::bytes)) add_pair(attributes, field.bytes, 0);
        });
        event.set("attributes", std::move(attributes));
        span.events.emplace_back(std::move(event));
    }

    // One with ids of other lengths is left out: nothing here has such an id.
    void read_link(OtlpSpan& span, std::string_view bytes)
    {
        count(1 + link_members);
        JsonObject link;
        JsonObject attributes;
        each(bytes, [&](const auto& field) {
            if (field.is(1, Kind::bytes) && field.bytes.size() == trace_bytes)
                link.set("trace_id", to_hex(field.bytes));
            if (field.is(2, Kind::bytes) && field.bytes.size() == span_bytes)
                link.set("span_id", to_hex(field.bytes));
            if (field.is(4, Kind::bytes)) add_pair(attributes, field.bytes, 0);
        });
        if (link.size() != 2) return;
        link.set("attributes", std::move(attributes));
        span.links.emplace_back(std::move(link));
    }

    void read_status(OtlpSpan& span, std::string_view bytes)
    {
        each(bytes, [&](const auto& field) {
            if (field.is(2, Kind::bytes)) span.message = field.bytes;
            if (!field.is(3, Kind::varint)) return;
            if (field.value == 1) span.status = OtlpSpan::Status::ok;
            if (field.value == 2) span.status = OtlpSpan::Status::error;
        });
    }

    void add_pair(JsonObject& object, std::string_view bytes, int depth)
    {
        std::string key;
        Json value;
        each(bytes, [&](const auto& field) {
            if (field.is(1, Kind::bytes)) key = field.bytes;
            if (field.is(2, Kind::bytes)) value = value_of(field.bytes, depth);
        });
        count();
        object.set(std::move(key), std::move(value));
    }

    Json value_of(std::string_view bytes, int depth)
    {
        count();
        if (depth == deepest) say(fmt::format("values in more than {} lists", deepest));
        Json value;
        each(bytes, [&](const auto& field) {
            if (field.is(1, Kind::bytes)) value = Json(std::string(field.bytes));
            if (field.is(2, Kind::varint)) value = Json(field.value != 0);
            if (field.is(3, Kind::varint)) value = Json(static_cast<std::int64_t>(field.value));
            if (field.is(4, Kind::fixed64)) value = Json(field.as_double());
            if (field.is(5, Kind::bytes)) value = list_of(field.bytes, depth);
            if (field.is(6, Kind::bytes)) value = map_of(field.bytes, depth);
            if (field.is(7, Kind::bytes)) value = Json(to_hex(field.bytes));
        });
        return value;
    }

    Json list_of(std::string_view bytes, int depth)
    {
        JsonArray list;
        each(bytes, [&](const auto& field) {
            if (field.is(1, Kind::bytes)) list.push_back(value_of(field.bytes, depth + 1));
        });
        return list;
    }

    Json map_of(std::string_view bytes, int depth)
    {
        JsonObject map;
        each(bytes, [&](const auto& field) {
            if (field.is(1, Kind::bytes)) add_pair(map, field.bytes, depth + 1);
        });
        return map;
    }

    void count(std::size_t values = 1)
    {
        values_ += values;
        if (values_ > most_values)
            say(fmt::format("more than {} values in one request: send fewer spans", most_values));
    }

    std::vector<OtlpSpan> spans_;
    std::size_t values_ = 0;
    std::string problem_;
};

}  // namespace

Result<std::vector<OtlpSpan>> read_otlp(std::string_view bytes)
{
    auto spans = TRY(Reader().read(bytes));
    if (spans.empty())
        return fail(ErrorKind::invalid_argument, "Invalid OpenTelemetry format - no spans found");
    return spans;
}

}  // namespace ponk::mlflow
