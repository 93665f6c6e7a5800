// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/assessment_json.hpp"
#include "api/mlflow/limits.hpp"
#include "api/mlflow/model_json.hpp"
#include "api/mlflow/routes.hpp"
#include "api/mlflow/tracking/spans.hpp"
#include "api/mlflow/tracking/trace_filter.hpp"
#include "base/text.hpp"
#include "mlflow/trace_time.hpp"

#include <algorithm>

// What is known of traces; their spans are files that clients put among artifacts.
namespace ponk::api::mlflow {

namespace {

constexpr std::int64_t usual_page = 100;
constexpr std::int64_t most_traces = 500;
constexpr std::size_t longest_trace_id = 250;
constexpr std::size_t longest_preview = 10'000;
constexpr std::size_t most_locations = 1000;
constexpr std::size_t most_links = 100;

store::Traces traces(const Services& services)
{
    return store::Traces(services.history());
}

Json wrapped(const store::TraceInfo& trace)
{
    return JsonObject{{"trace_info", trace_json(trace)}};
}

// It is part of the place of the trace's files.
Result<std::string> trace_id_of(const Fields& fields)
{
    auto id = TRY(fields.text("trace_id"));
    const bool legal = id.size() <= longest_trace_id && id != "." && id != ".." &&
                       std::none_of(id.begin(), id.end(), [](char c) {
                           return c == '/' || c == '\\' || c == '%' || c == '#' || c == '?' ||
                                  (c >= 0 && c <= ' ') || c == 0x7f;
                       });
    if (!legal) return tl::unexpected(fields.invalid("trace_id"));
    return id;
}

// {"key": "value"}
Result<store::Pairs> map_of(const Fields& fields, std::string_view name)
{
    store::Pairs pairs;
    const auto map = TRY(fields.find_object(name));
    if (!map) return pairs;
    for (const auto& [key, value] : map->json().as_object()) {
        if (!value.is_string() || key.empty()) return tl::unexpected(map->invalid(key));
        TRY(check_length("key", key, limits::key));
        pairs.emplace_back(key, first_characters(value.as_string(), limits::tag_value));
    }
    return pairs;
}

Result<std::optional<std::string>> preview_of(const Fields& fields, std::string_view name)
{
    auto text = TRY(fields.find_text(name));
    if (text) text = first_characters(std::move(*text), longest_preview);
    return text;
}

Result<std::string> state_of(const Fields& fields)
{
    const auto text = TRY(fields.find_text("state"));
    if (!text || *text == "STATE_UNSPECIFIED") return std::string("STATE_UNSPECIFIED");
    return TRY(fields.find_name("state", {"OK", "ERROR", "IN_PROGRESS"})).value();
}

Result<std::int64_t> experiment_of(const Fields& location)
{
    return experiment_id(TRY(location.object("mlflow_experiment")), "experiment_id");
}

Result<store::TraceInfo> trace_of(const Fields& fields)
{
    store::TraceInfo trace;
    trace.id = TRY(trace_id_of(fields));
    trace.experiment = TRY(experiment_of(TRY(fields.object("trace_location"))));
    const auto time = ponk::mlflow::parse_trace_time(TRY(fields.text("request_time")));
    if (!time) return tl::unexpected(fields.invalid("request_time"));
    trace.time = *time;
    if (const auto duration = TRY(fields.find_text("execution_duration"))) {
        trace.duration = ponk::mlflow::parse_trace_duration(*duration);
        if (!trace.duration) return tl::unexpected(fields.invalid("execution_duration"));
    }
    trace.state = TRY(state_of(fields));
    trace.client_id = TRY(preview_of(fields, "client_request_id"));
    trace.request = TRY(preview_of(fields, "request_preview"));
    trace.response = TRY(preview_of(fields, "response_preview"));
    trace.metadata = TRY(map_of(fields, "trace_metadata"));
    trace.tags = TRY(map_of(fields, "tags"));
    for (const auto& assessment : TRY(fields.objects("assessments")))
        trace.assessments.push_back(TRY(assessment_of(assessment, trace.id)));
    return trace;
}

Result<net::Response> start_trace(const Services& services, const Call& call)
{
    const auto info = TRY(TRY(call.fields.object("trace")).object("trace_info"));
    const auto stored = TRY(traces(services).put(TRY(trace_of(info))));
    return reply({{"trace", wrapped(stored)}});
}

Result<net::Response> get_trace(const Services& services, const Call& call)
{
    const auto stored = TRY(traces(services).get(call.variables[0]));
    return reply({{"trace", wrapped(stored)}});
}

Result<std::vector<store::TraceInfo>> find_traces(const Services& services, const Fields& fields)
{
    const auto ids = TRY(fields.texts("trace_ids"));
    if (ids.empty()) return tl::unexpected(fields.missing("trace_ids"));
    if (ids.size() > most_traces)
        return fail(
            ErrorKind::invalid_argument, "A request can name at most {} trace_ids", most_traces);
    return traces(services).find(ids);
}

Result<net::Response> batch_get(const Services& services, const Call& call)
{
    const auto found = TRY(find_traces(services, call.fields));
    JsonObject answer;
    set_unless_empty(answer, "traces", TRY(whole_traces(services, found)));
    return reply(std::move(answer));
}

Result<net::Response> batch_get_infos(const Services& services, const Call& call)
{
    const auto found = TRY(find_traces(services, call.fields));
    return reply(page_json("trace_infos", found, "", trace_json));
}

Result<net::Response> search_traces(const Services& services, const Call& call)
{
    const auto& fields = call.fields;
    const auto locations = TRY(fields.objects("locations"));
    if (locations.empty()) return tl::unexpected(fields.missing("locations"));
    if (locations.size() > most_locations)
        return fail(
            ErrorKind::invalid_argument, "A search can name at most {} locations", most_locations);
    store::TraceSearch search;
    for (const auto& location : locations) {
        // Traces of other kinds of places are none of ours.
        if (location.has("mlflow_experiment"))
            search.experiments.push_back(TRY(experiment_of(location)));
    }
    search.filter = TRY(trace_filter_of(fields, "filter"));
    search.order_by =
        TRY(query::search::parse_order_by(query::search::traces, TRY(fields.texts("order_by"))));
    search.limit = static_cast<std::size_t>(TRY(page_size_of(fields, usual_page, most_traces)));
    search.page = TRY(fields.find_text("page_token")).value_or("");
    const auto page = TRY(traces(services).search(search));
    return reply(page_json("traces", page.traces, page.next, trace_json));
}

Result<net::Response> set_tag(const Services& services, const Call& call)
{
    const auto [key, value] = TRY(tag_of(call.fields));
    TRY(traces(services).set_tag(call.variables[0], key, value));
    return reply();
}

Result<net::Response> delete_tag(const Services& services, const Call& call)
{
    TRY(traces(services).remove_tag(call.variables[0], TRY(call.fields.text("key"))));
    return reply();
}

Result<net::Response> link_to_run(const Services& services, const Call& call)
{
    if (!call.fields.has("trace_ids")) return tl::unexpected(call.fields.missing("trace_ids"));
    const auto ids = TRY(call.fields.texts("trace_ids"));
    const auto run = TRY(call.fields.text("run_id"));
    if (ids.size() > most_links)
        return fail(ErrorKind::invalid_argument,
                    "Cannot link more than {} traces to a run in a single request. Provided {}"
                    " traces.",
                    most_links,
                    ids.size());
    TRY(traces(services).link_to_run(ids, run));
    return reply();
}

// "name/version"
Result<std::string> prompt_of(const Fields& fields)
{
    const auto name = TRY(fields.text("name"));
    const auto version = TRY(fields.integer("version"));
    TRY(check_length("name", name, limits::key));
    if (name.empty() || name.find('/') != std::string::npos)
        return tl::unexpected(fields.invalid("name"));
    return fmt::format("{}/{}", name, version);
}

Result<net::Response> link_prompts(const Services& services, const Call& call)
{
    const auto trace = TRY(call.fields.text("trace_id"));
    if (!call.fields.has("prompt_versions"))
        return tl::unexpected(call.fields.missing("prompt_versions"));
    std::vector<std::string> prompts;
    for (const auto& prompt : TRY(call.fields.objects("prompt_versions")))
        prompts.push_back(TRY(prompt_of(prompt)));
    TRY(traces(services).link_prompts(trace, prompts));
    return reply();
}

Result<store::TraceSelection> selection_of(const Fields& fields)
{
    store::TraceSelection selection;
    selection.ids = TRY(fields.texts("request_ids"));
    selection.until = TRY(fields.find_integer("max_timestamp_millis"));
    selection.most = TRY(fields.find_integer("max_traces"));
    if (!selection.until && selection.ids.empty())
        return fail(ErrorKind::invalid_argument,
                    "Either `max_timestamp_millis` or `trace_ids` must be specified.");
    if (selection.until && !selection.ids.empty())
        return fail(ErrorKind::invalid_argument,
                    "Only one of `max_timestamp_millis` and `trace_ids` can be specified.");
    if (selection.most && !selection.ids.empty())
        return fail(ErrorKind::invalid_argument,
                    "`max_traces` can't be specified if `trace_ids` is specified.");
    if (selection.most && *selection.most <= 0)
        return fail(ErrorKind::invalid_argument,
                    "`max_traces` must be a positive integer, received {}.",
                    *selection.most);
    return selection;
}

Result<net::Response> delete_traces(const Services& services, const Call& call)
{
    const auto experiment = TRY(experiment_id(call.fields, "experiment_id"));
    const auto removed = TRY(traces(services).remove(experiment, TRY(selection_of(call.fields))));
    return reply({{"traces_deleted", removed}});
}

}  // namespace

std::span<const Route> trace_routes()
{
    using enum Permission;
    static constexpr Route table[] = {
        {"POST", "/api/3.0/mlflow/traces", write, start_trace},
        {.method = "POST",
         .pattern = "/api/3.0/mlflow/traces/search",
         .permission = read,
         .action = search_traces,
         .pace = net::Reception::Pace::compute},
        {.method = "GET",
         .pattern = "/api/3.0/mlflow/traces/batchGet",
         .permission = read,
         .action = batch_get,
         .pace = net::Reception::Pace::compute},
        {"POST", "/api/3.0/mlflow/traces/batchGetInfos", read, batch_get_infos},
        {"POST", "/api/2.0/mlflow/traces/link-to-run", write, link_to_run},
        {"POST", "/api/2.0/mlflow/traces/link-prompts", write, link_prompts},
        {"GET", "/api/3.0/mlflow/traces/{id}", read, get_trace},
        {"PATCH", "/api/3.0/mlflow/traces/{id}/tags", write, set_tag},
        {"DELETE", "/api/3.0/mlflow/traces/{id}/tags", write, delete_tag},
        {"PATCH", "/api/2.0/mlflow/traces/{id}/tags", write, set_tag},
        {"DELETE", "/api/2.0/mlflow/traces/{id}/tags", write, delete_tag},
        {"POST", "/api/3.0/mlflow/traces/delete-traces", write, delete_traces},
        {"POST", "/api/2.0/mlflow/traces/delete-traces", write, delete_traces},
    };
    return table;
}

}  // namespace ponk::api::mlflow
