// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/limits.hpp"
#include "api/mlflow/routes.hpp"
#include "api/mlflow/tracking/json_out.hpp"
#include "api/mlflow/tracking/log.hpp"
#include "base/text.hpp"
#include "model/run_state.hpp"
#include "query/search/filter.hpp"

#include <algorithm>

// Runs, ours and those that clients make.
namespace ponk::api::mlflow {

namespace {

store::Tracking tracking(const Services& services)
{
    return store::Tracking(services.history());
}

model::RunState state_of(std::string_view status)
{
    if (status == "SCHEDULED") return model::RunState::queued;
    if (status == "FINISHED") return model::RunState::completed;
    if (status == "FAILED") return model::RunState::failed;
    if (status == "KILLED") return model::RunState::canceled;
    return model::RunState::running;
}

Result<std::vector<std::int64_t>> experiment_ids(const Fields& fields)
{
    std::vector<std::int64_t> ids;
    for (const auto& text : TRY(fields.texts("experiment_ids"))) {
        const auto id = parse_experiment_id(text);
        // One that cannot be has no runs.
        if (!id && id.error().kind() != ErrorKind::not_found) return tl::unexpected(id.error());
        if (id) ids.push_back(*id);
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

net::Response run_reply(const store::TrackedRun& run)
{
    std::string out = "{";
    append_name(out, "run");
    append_run(out, run);
    out += '}';
    return text_reply(std::move(out));
}

// The name may come as a field, as a tag, or both when they are the same.
Result<std::string> take_name(const Fields& fields, store::Pairs& tags)
{
    auto name = TRY(fields.find_text("run_name")).value_or("");
    for (const auto& [key, value] : tags) {
        if (key != store::run_name_tag || value.empty()) continue;
        if (!name.empty() && name != value) {
            return fail(ErrorKind::invalid_argument,
                        "Both 'run_name' argument and 'mlflow.runName' tag are specified, but with "
                        "different values (run_name={}, mlflow.runName={})",
                        to_json(name),
                        to_json(value));
        }
        name = value;
    }
    std::erase_if(tags, [](const auto& tag) { return tag.first == store::run_name_tag; });
    return first_characters(std::move(name), limits::tag_value);
}

Result<net::Response> create_run(const Services& services, const Call& call)
{
    const auto& fields = call.fields;
    store::NewRun run;
    run.experiment = TRY(parse_experiment_id(TRY(fields.find_text("experiment_id")).value_or("")));
    run.tags = TRY(tags_of(fields));
    run.name = TRY(take_name(fields, run.tags));
    run.user = TRY(fields.find_text("user_id")).value_or("");
    run.started = TRY(fields.find_integer("start_time")).value_or(0);
    return run_reply(TRY(tracking(services).create_run(run)));
}

Result<net::Response> get_run(const Services& services, const Call& call)
{
    return run_reply(TRY(tracking(services).get_run(TRY(call.fields.run_id()))));
}

Result<net::Response> update_run(const Services& services, const Call& call)
{
    const auto id = TRY(call.fields.run_id());
    store::TrackedChange change;
    const auto& statuses = model::mlflow_statuses;
    if (const auto status =
            TRY(call.fields.find_name("status", {std::begin(statuses), std::end(statuses)})))
        change.state = state_of(*status);
    change.ended = TRY(call.fields.find_integer("end_time"));
    change.name = TRY(call.fields.find_text("run_name"));
    if (change.name)
        change.name =
            TRY(secrets_of(services, id)).hide(first_characters(*change.name, limits::tag_value));
    std::string out = "{";
    append_name(out, "run_info");
    append_run_info(out, TRY(tracking(services).update_run(id, change)));
    return text_reply(out + "}");
}

Result<net::Response> delete_run(const Services& services, const Call& call)
{
    TRY(tracking(services).delete_run(TRY(call.fields.run_id())));
    return reply();
}

Result<net::Response> restore_run(const Services& services, const Call& call)
{
    TRY(tracking(services).restore_run(TRY(call.fields.run_id()),
                                       store::Tracking::OfDeletedExperiment::leave));
    return reply();
}

// What a run's relay says beside the filter of its script (docs/design/relay.md).
Result<> add_scope(const Fields& fields, query::search::Filter& filter)
{
    using namespace query::search;
    const auto scope = TRY(fields.find_object("ponk_scope"));
    if (!scope) return {};
    if (auto names = TRY(scope->texts("names")); !names.empty())
        filter.push_back({Entity::attribute, "experiment", Operator::in, std::move(names)});
    if (auto run = TRY(scope->find_text("without")))
        filter.push_back({Entity::attribute, "run_id", Operator::not_equal, std::move(*run)});
    return {};
}

Result<store::RunSearch> search_of(const Fields& fields)
{
    const auto& grammar = query::search::runs;
    store::RunSearch search;
    search.words = store::RunSearch::Words::mlflow;
    search.experiments = TRY(experiment_ids(fields));
    search.scope.lifecycle = TRY(lifecycle_of(fields, "run_view_type"));
    // As the lists of the command line: who wants to see everything has to say so.
    if (search.scope.lifecycle != store::Lifecycle::active)
        search.scope.hidden = store::RunFilter::Hidden::include;
    search.scope.limit = static_cast<std::size_t>(TRY(page_size_of(fields, 1000, largest_page)));
    search.filter =
        TRY(query::search::parse_filter(grammar, TRY(fields.find_text("filter")).value_or("")));
    TRY(add_scope(fields, search.filter));
    search.order_by = TRY(query::search::parse_order_by(grammar, TRY(fields.texts("order_by"))));
    if (search.order_by.empty()) {
        search.order_by.push_back(
            {query::search::Entity::attribute, "start_time", query::search::Direction::descending});
    }
    search.page = TRY(fields.find_text("page_token")).value_or("");
    return search;
}

Result<net::Response> search_runs(const Services& services, const Call& call)
{
    const auto search = TRY(search_of(call.fields));
    if (search.experiments->empty()) return reply();
    auto page = TRY(tracking(services).search_runs(search));
    std::string out = "{";
    if (!page.runs.empty()) {
        append_name(out, "runs");
        out += '[';
        for (auto& run : page.runs) {
            if (out.back() != '[') out += ',';
            append_run(out, run);
            run = {};  // it is in the text now
        }
        out += ']';
    }
    if (!page.next.empty()) {
        append_name(out, "next_page_token");
        append_text(out, page.next);
    }
    out += '}';
    return text_reply(std::move(out));
}

}  // namespace

std::span<const Route> run_routes()
{
    using enum Permission;
    static constexpr Route table[] = {
        {"POST", "/api/2.0/mlflow/runs/create", write, create_run},
        {"GET", "/api/2.0/mlflow/runs/get", read, get_run},
        {"POST", "/api/2.0/mlflow/runs/update", write, update_run},
        {"POST", "/api/2.0/mlflow/runs/delete", write, delete_run},
        {"POST", "/api/2.0/mlflow/runs/restore", write, restore_run},
        {.method = "POST",
         .pattern = "/api/2.0/mlflow/runs/search",
         .permission = read,
         .action = search_runs,
         .pace = net::Reception::Pace::compute},
        {"POST",
         "/api/2.0/mlflow/runs/log-metric",
         write,
         log_metric,
         Route::Body::raw,
         nullptr,
         begin_log_metric},
        {"POST",
         "/api/2.0/mlflow/runs/log-batch",
         write,
         log_batch,
         Route::Body::raw,
         nullptr,
         begin_log_batch},
        {"POST", "/api/2.0/mlflow/runs/log-parameter", write, log_parameter},
        {"POST", "/api/2.0/mlflow/runs/set-tag", write, set_tag},
        {"POST", "/api/2.0/mlflow/runs/delete-tag", write, delete_tag},
    };
    return table;
}

}  // namespace ponk::api::mlflow
