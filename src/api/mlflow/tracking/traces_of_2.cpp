// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/limits.hpp"
#include "api/mlflow/model_json.hpp"
#include "api/mlflow/routes.hpp"
#include "base/id.hpp"
#include "base/text.hpp"
#include "query/search/filter.hpp"

#include <algorithm>

// Traces as clients of MLflow 2 begin, end, show and search them.
namespace ponk::api::mlflow {

namespace {

constexpr std::int64_t usual_page = 100;
constexpr std::int64_t most_traces = 500;
constexpr std::size_t most_experiments = 1000;
constexpr const char* no_status = "TRACE_STATUS_UNSPECIFIED";

store::Traces traces(const Services& services)
{
    return store::Traces(services.history());
}

Json told(const store::TraceInfo& trace)
{
    JsonObject object{{"request_id", trace.id},
                      {"experiment_id", std::to_string(trace.experiment)},
                      {"timestamp_ms", trace.time}};
    if (trace.duration) object.set("execution_time_ms", *trace.duration);
    object.set("status", trace.state == "STATE_UNSPECIFIED" ? no_status : trace.state);
    set_unless_empty(object, "request_metadata", pairs_json(trace.metadata));
    set_unless_empty(object, "tags", pairs_json(trace.tags));
    return object;
}

// [{"key": …, "value": …}]
Result<store::Pairs> pairs_of(const Fields& fields, std::string_view name)
{
    store::Pairs pairs;
    for (const auto& pair : TRY(fields.objects(name))) {
        auto key = TRY(pair.text("key"));
        TRY(check_length("key", key, limits::key));
        auto value = TRY(pair.find_text("value")).value_or("");
        pairs.emplace_back(std::move(key), first_characters(std::move(value), limits::tag_value));
    }
    return pairs;
}

Result<net::Response> begin_trace(const Services& services, const Call& call)
{
    store::TraceInfo trace;
    trace.id = RunId::make().text();
    trace.experiment = TRY(experiment_id(call.fields, "experiment_id"));
    trace.time = TRY(call.fields.integer("timestamp_ms"));
    trace.state = "IN_PROGRESS";
    trace.metadata = TRY(pairs_of(call.fields, "request_metadata"));
    trace.tags = TRY(pairs_of(call.fields, "tags"));
    const auto stored = TRY(traces(services).put(trace));
    return reply({{"trace_info", told(stored)}});
}

Result<net::Response> end_trace(const Services& services, const Call& call)
{
    auto trace = TRY(traces(services).get(call.variables[0]));
    const auto ended = TRY(call.fields.integer("timestamp_ms"));
    TRY(store::check_trace_time(ended));
    trace.duration = std::max<std::int64_t>(0, ended - trace.time);
    const auto status = TRY(call.fields.find_text("status")).value_or(no_status);
    trace.state =
        status == no_status
            ? "STATE_UNSPECIFIED"
            : TRY(call.fields.find_name("status", {"OK", "ERROR", "IN_PROGRESS"})).value();
    trace.metadata = TRY(pairs_of(call.fields, "request_metadata"));
    trace.tags = TRY(pairs_of(call.fields, "tags"));
    trace.assessments.clear();
    const auto stored = TRY(traces(services).put(trace));
    return reply({{"trace_info", told(stored)}});
}

Result<net::Response> show_info(const Services& services, const Call& call)
{
    const auto stored = TRY(traces(services).get(call.variables[0]));
    return reply({{"trace_info", told(stored)}});
}

Result<net::Response> search(const Services& services, const Call& call)
{
    const auto& fields = call.fields;
    const auto experiments = TRY(fields.texts("experiment_ids"));
    if (experiments.empty()) return tl::unexpected(fields.missing("experiment_ids"));
    if (experiments.size() > most_experiments)
        return fail(ErrorKind::invalid_argument,
                    "A search can name at most {} experiment_ids",
                    most_experiments);
    store::TraceSearch wanted;
    for (const auto& id : experiments)
        wanted.experiments.push_back(TRY(parse_experiment_id(id)));
    const auto& grammar = query::search::traces;
    wanted.filter =
        TRY(query::search::parse_filter(grammar, TRY(fields.find_text("filter")).value_or("")));
    wanted.order_by = TRY(query::search::parse_order_by(grammar, TRY(fields.texts("order_by"))));
    wanted.limit = static_cast<std::size_t>(TRY(page_size_of(fields, usual_page, most_traces)));
    wanted.page = TRY(fields.find_text("page_token")).value_or("");
    const auto page = TRY(traces(services).search(wanted));
    return reply(page_json("traces", page.traces, page.next, told));
}

}  // namespace

std::span<const Route> old_trace_routes()
{
    using enum Permission;
    static constexpr Route table[] = {
        {"POST", "/api/2.0/mlflow/traces", write, begin_trace},
        {"PATCH", "/api/2.0/mlflow/traces/{id}", write, end_trace},
        {"GET", "/api/2.0/mlflow/traces/{id}/info", read, show_info},
        {.method = "GET",
         .pattern = "/api/2.0/mlflow/traces",
         .permission = read,
         .action = search,
         .pace = net::Reception::Pace::compute},
    };
    return table;
}

}  // namespace ponk::api::mlflow
