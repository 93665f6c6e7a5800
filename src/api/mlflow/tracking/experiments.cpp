// SPDX-License-Identifier: Apache-2.0
#include "api/http/error_shape.hpp"
#include "api/http/project_access.hpp"
#include "api/mlflow/artifacts/artifact_place.hpp"
#include "api/mlflow/limits.hpp"
#include "api/mlflow/routes.hpp"
#include "api/mlflow/tracking/json_out.hpp"
#include "query/search/filter.hpp"

// Experiments, which are our projects.
namespace ponk::api::mlflow {

namespace {

store::Tracking tracking(const Services& services)
{
    return store::Tracking(services.history());
}

// It is text for us and never opened; what no client could use is refused all the same.
Result<std::string> location_of(const Fields& fields)
{
    constexpr std::string_view name = "artifact_location";
    auto location = TRY(fields.find_text(name)).value_or("");
    TRY(check_length(name, location, longest_location));
    if (location.starts_with("runs:"))
        return tl::unexpected(fields.invalid(name, "it cannot be a runs:/ URI"));
    // With a host it is another server's.
    if (location.starts_with("mlflow-artifacts:") && !location.starts_with("mlflow-artifacts://"))
        TRY(check_own_location(location));
    const auto query = location.find('?');
    if (location.find('#') != std::string::npos || location.find(';') != std::string::npos ||
        location.find('\0') != std::string::npos ||
        (query != std::string::npos && location.find("..", query) != std::string::npos))
        return tl::unexpected(fields.invalid(name, "no '#', no ';' and no '..' in its query"));
    return location;
}

Result<std::string> name_of(const Fields& fields, std::string_view field)
{
    auto name = TRY(fields.text(field));
    TRY(check_length("name", name, limits::experiment_name));
    return name;
}

Result<net::Response> create_experiment(const Services& services, const Call& call)
{
    const auto name = TRY(name_of(call.fields, "name"));
    const auto location = TRY(location_of(call.fields));
    store::Pairs tags;
    for (const auto& tag : TRY(call.fields.objects("tags"))) {
        auto key = TRY(key_of(tag, "key", "key"));
        tags.emplace_back(std::move(key), TRY(experiment_tag_value_of(tag)));
    }
    const auto id = TRY(tracking(services).create_experiment(name, location, tags));
    return reply({{"experiment_id", std::to_string(id)}});
}

net::Response experiment_reply(const store::Experiment& experiment)
{
    std::string out = "{";
    append_name(out, "experiment");
    append_experiment(out, experiment);
    return text_reply(out + "}");
}

Result<net::Response> get_experiment(const Services& services, const Call& call)
{
    const auto id = TRY(experiment_id(call.fields, "experiment_id"));
    return experiment_reply(TRY(tracking(services).get_experiment(id)));
}

Result<net::Response> get_experiment_by_name(const Services& services, const Call& call)
{
    const auto name = TRY(call.fields.text("experiment_name"));
    return experiment_reply(TRY(tracking(services).get_experiment_named(name)));
}

net::Response page_reply(const store::ExperimentPage& page)
{
    std::string out = "{";
    if (!page.experiments.empty()) {
        append_name(out, "experiments");
        out += '[';
        for (const auto& experiment : page.experiments) {
            if (out.back() != '[') out += ',';
            append_experiment(out, experiment);
        }
        out += ']';
    }
    if (!page.next.empty()) {
        append_name(out, "next_page_token");
        append_text(out, page.next);
    }
    return text_reply(out + "}");
}

Result<store::ExperimentSearch> search_of(const Fields& fields, std::int64_t default_size)
{
    const auto& grammar = query::search::experiments;
    store::ExperimentSearch search;
    search.limit = static_cast<std::size_t>(TRY(page_size_of(fields, default_size, largest_page)));
    search.lifecycle = TRY(lifecycle_of(fields, "view_type"));
    search.filter =
        TRY(query::search::parse_filter(grammar, TRY(fields.find_text("filter")).value_or("")));
    search.order_by = TRY(query::search::parse_order_by(grammar, TRY(fields.texts("order_by"))));
    search.page = TRY(fields.find_text("page_token")).value_or("");
    return search;
}

Result<net::Response> search_experiments(const Services& services, const Call& call)
{
    // Nothing said is 0, which is refused: so does MLflow's server.
    return page_reply(TRY(tracking(services).search_experiments(TRY(search_of(call.fields, 0)))));
}

// As clients of MLflow 1 ask.
Result<net::Response> list_experiments(const Services& services, const Call& call)
{
    return page_reply(
        TRY(tracking(services).search_experiments(TRY(search_of(call.fields, 1000)))));
}

// An answer where the caller may not change the experiment.
Result<std::optional<net::Response>>
refuse_change(const Services& services, const Call& call, std::int64_t id)
{
    const auto experiment = TRY(tracking(services).get_experiment(id));
    const auto refusal = find_refusal(services, call.request, experiment);
    if (!refusal) return std::optional<net::Response>();
    return std::optional(error_answer("/api/2.0/", refusal->error, refusal->status));
}

Result<net::Response> update_experiment(const Services& services, const Call& call)
{
    const auto id = TRY(experiment_id(call.fields, "experiment_id"));
    const auto name = TRY(name_of(call.fields, "new_name"));
    if (auto refusal = TRY(refuse_change(services, call, id))) return std::move(*refusal);
    const auto renamed = tracking(services).rename_experiment(id, name);
    if (renamed) return reply();
    // 400 where MLflow's server has 500, which clients take for an outage and try again for
    // minutes.
    if (renamed.error().kind() == ErrorKind::cancelled)
        return refuse(400, ponk::mlflow::invalid_state, renamed.error().message());
    return tl::unexpected(renamed.error());
}

Result<net::Response> delete_experiment(const Services& services, const Call& call)
{
    const auto id = TRY(experiment_id(call.fields, "experiment_id"));
    if (auto refusal = TRY(refuse_change(services, call, id))) return std::move(*refusal);
    TRY(tracking(services).delete_experiment(id));
    return reply();
}

Result<net::Response> restore_experiment(const Services& services, const Call& call)
{
    const auto id = TRY(experiment_id(call.fields, "experiment_id"));
    if (auto refusal = TRY(refuse_change(services, call, id))) return std::move(*refusal);
    TRY(tracking(services).restore_experiment(id));
    return reply();
}

Result<net::Response> set_experiment_tag(const Services& services, const Call& call)
{
    const auto id = TRY(experiment_id(call.fields, "experiment_id"));
    const auto key = TRY(key_of(call.fields, "key", "key"));
    TRY(tracking(services).set_experiment_tag(id, key, TRY(experiment_tag_value_of(call.fields))));
    return reply();
}

Result<net::Response> delete_experiment_tag(const Services& services, const Call& call)
{
    const auto id = TRY(experiment_id(call.fields, "experiment_id"));
    TRY(tracking(services).delete_experiment_tag(id, TRY(call.fields.text("key"))));
    return reply();
}

}  // namespace

std::span<const Route> experiment_routes()
{
    using enum Permission;
    static constexpr Route table[] = {
        {"POST", "/api/2.0/mlflow/experiments/create", write, create_experiment},
        {"GET", "/api/2.0/mlflow/experiments/get", read, get_experiment},
        {"GET", "/api/2.0/mlflow/experiments/get-by-name", read, get_experiment_by_name},
        {.method = "POST",
         .pattern = "/api/2.0/mlflow/experiments/search",
         .permission = read,
         .action = search_experiments,
         .pace = net::Reception::Pace::compute},
        {.method = "GET",
         .pattern = "/api/2.0/mlflow/experiments/search",
         .permission = read,
         .action = search_experiments,
         .pace = net::Reception::Pace::compute},
        {"GET", "/api/2.0/mlflow/experiments/list", read, list_experiments},
        {"POST", "/api/2.0/mlflow/experiments/update", write, update_experiment},
        {"POST", "/api/2.0/mlflow/experiments/delete", write, delete_experiment},
        {"POST", "/api/2.0/mlflow/experiments/restore", write, restore_experiment},
        {"POST", "/api/2.0/mlflow/experiments/set-experiment-tag", write, set_experiment_tag},
        {"POST", "/api/2.0/mlflow/experiments/delete-experiment-tag", write, delete_experiment_tag},
    };
    return table;
}

}  // namespace ponk::api::mlflow
