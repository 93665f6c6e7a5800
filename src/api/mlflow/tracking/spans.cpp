// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking/spans.hpp"

#include "api/http/unpack.hpp"
#include "api/mlflow/artifacts/artifact_place.hpp"
#include "api/mlflow/artifacts/file_answer.hpp"
#include "api/mlflow/limits.hpp"
#include "api/mlflow/model_json.hpp"
#include "api/mlflow/routes.hpp"
#include "api/mlflow/tracking/logged_spans.hpp"
#include "base/text.hpp"
#include "mlflow/spans.hpp"
#include "store/tracking/spans.hpp"

// Spans of traces: taken in as OpenTelemetry's protocol sends them, and given back.
namespace ponk::api::mlflow {

namespace {

constexpr std::string_view binary_type = "application/x-protobuf";
constexpr std::string_view json_type = "application/json";
// What a body may have that comes as it is.
constexpr std::size_t most_unpacked = std::size_t{16} << 20;
constexpr const char* spans_file = "traces.json";
constexpr std::size_t most_answered = std::size_t{32} << 20;

// Taking in ---------------------------------------------------------------------------------------

// A bomb is refused before anything of it is read.
Result<std::vector<ponk::mlflow::OtlpSpan>> read_spans(const net::Request& request,
                                                       std::string_view type)
{
    const auto read = type == json_type ? ponk::mlflow::read_otlp_json : ponk::mlflow::read_otlp;
    const auto encoding = request.header("Content-Encoding");
    if (encoding.empty()) return read(request.body);
    return read(TRY(unpack(encoding, request.body, most_unpacked)));
}

Result<net::Response> take_spans(const Services& services, const Call& call)
{
    const auto type = lower(trim(split(call.request.header("Content-Type"), ';').front()));
    if (type != binary_type && type != json_type)
        return fail(ErrorKind::invalid_argument,
                    "Invalid Content-Type: {}. Expected: {} or {}",
                    printable(type),
                    binary_type,
                    json_type);
    const auto experiment = call.request.header("x-mlflow-experiment-id");
    if (experiment.empty())
        return fail(ErrorKind::invalid_argument,
                    "Missing header 'x-mlflow-experiment-id': it says where the traces belong");
    const auto id = TRY(parse_experiment_id(experiment));
    const auto spans = TRY(logged_spans(TRY(read_spans(call.request, type))));
    TRY(store::Spans(services.history())
            .add(id, spans, unless_empty(std::string(call.request.header("x-mlflow-run-id")))));
    // Nothing is left to say, in either form.
    if (type == json_type) return reply();
    net::Response answer;
    answer.type = binary_type;
    return answer;
}

// Giving back -------------------------------------------------------------------------------------

const std::string* find_value(const store::Pairs& pairs, std::string_view key)
{
    for (const auto& [name, value] : pairs) {
        if (name == key) return &value;
    }
    return nullptr;
}

bool are_here(const store::TraceInfo& trace)
{
    const auto* place = find_value(trace.tags, store::spans_location_tag);
    return place != nullptr && *place == store::spans_are_here;
}

// The client says how many there are when the trace ends, and may still be sending them.
bool is_complete(const store::TraceInfo& trace, std::size_t count)
{
    const auto* text = find_value(trace.metadata, "mlflow.trace.sizeStats");
    if (text == nullptr) return true;
    const auto stats = parse_json(*text);
    return !stats || static_cast<std::int64_t>(count) >= stats->integer("num_spans");
}

enum class Missing { allowed, refused };

// Nullopt: not complete. `bytes` grows by what was read.
Result<std::optional<Json>> whole_trace(const Services& services,
                                        const store::TraceInfo& trace,
                                        Missing missing,
                                        std::size_t& bytes)
{
    JsonObject whole{{"trace_info", trace_json(trace)}};
    if (!are_here(trace)) return std::optional<Json>(std::move(whole));
    const auto contents = TRY(store::Spans(services.history()).contents(trace.id));
    if (missing == Missing::refused && !is_complete(trace, contents.size()))
        return std::optional<Json>();
    JsonArray spans;
    for (const auto& content : contents) {
        bytes += content.size();
        if (bytes > most_answered)
            return fail(ErrorKind::invalid_argument,
                        "The spans of these traces have more than {}: ask for fewer at once",
                        byte_size_text(most_answered));
        const auto json = TRY(parse_json(content).map_error(
            [](const Error& error) { return error.of_kind(ErrorKind::damaged); }));
        spans.push_back(TRY(ponk::mlflow::span_message(json)));
    }
    set_unless_empty(whole, "spans", std::move(spans));
    return std::optional<Json>(std::move(whole));
}

Result<net::Response> get_trace(const Services& services, const Call& call)
{
    const auto id = TRY(call.fields.text("trace_id"));
    const bool partial = TRY(call.fields.find_flag("allow_partial")).value_or(false);
    auto found = TRY(store::Traces(services.history()).find({id}));
    if (found.empty())
        return fail(ErrorKind::not_found, "Trace with ID {} is not found.", printable(id));
    std::size_t bytes = 0;
    auto whole = TRY(
        whole_trace(services, found.front(), partial ? Missing::allowed : Missing::refused, bytes));
    if (!whole)
        return fail(ErrorKind::not_found,
                    "Trace with ID {} is not fully exported yet, please try again later.",
                    printable(id));
    return reply({{"trace", std::move(*whole)}});
}

// As a file: those that are here, or the one that the client put among the trace's artifacts.
Result<net::Response> show_file(const Services& services, const Call& call)
{
    const auto id = call.request.parameter("request_id").value_or("");
    if (id.empty())
        return refuse(
            400, "BAD_REQUEST", "Request must include the \"request_id\" query parameter.");
    const auto attachment = call.request.parameter("path").value_or("");
    const auto trace = TRY(store::Traces(services.history()).get(id));
    if (attachment.empty() && are_here(trace)) {
        const auto contents = TRY(store::Spans(services.history()).contents(id));
        net::Response answer;
        answer.type = "application/octet-stream";
        answer.headers.emplace_back("Content-Disposition",
                                    fmt::format("attachment; filename={}", spans_file));
        answer.headers.emplace_back("X-Content-Type-Options", "nosniff");
        answer.body = R"({"spans":[)" + join(contents, ",") + "]}";
        return answer;
    }
    const auto* location = find_value(trace.tags, store::artifact_location_tag);
    const auto path = TRY(
        store::ArtifactPath::parse(attachment.empty() ? spans_file : "attachments/" + attachment));
    const auto place = TRY(place_at(services, location ? *location : "", path));
    return file_answer(call.request, TRY(open_place(services, place)), path.name());
}

}  // namespace

Result<JsonArray> whole_traces(const Services& services,
                               const std::vector<store::TraceInfo>& traces)
{
    JsonArray all;
    std::size_t bytes = 0;
    for (const auto& trace : traces) {
        auto whole = TRY(whole_trace(services, trace, Missing::refused, bytes));
        if (whole) all.push_back(std::move(*whole));
    }
    return all;
}

std::span<const Route> span_routes()
{
    using enum Permission;
    constexpr auto compute = net::Reception::Pace::compute;
    constexpr auto raw = Route::Body::raw;
    static constexpr Route table[] = {
        {.method = "POST",
         .pattern = "/v1/traces",
         .permission = write,
         .action = take_spans,
         .body = raw,
         .pace = compute},
        {.method = "GET",
         .pattern = "/api/3.0/mlflow/traces/get",
         .permission = read,
         .action = get_trace,
         .pace = compute},
        {"GET", "/ajax-api/2.0/mlflow/get-trace-artifact", read, show_file, raw},
        {"GET", "/ajax-api/3.0/mlflow/get-trace-artifact", read, show_file, raw},
    };
    return table;
}

}  // namespace ponk::api::mlflow
