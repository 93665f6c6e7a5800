// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/limits.hpp"
#include "api/mlflow/model_json.hpp"
#include "api/mlflow/routes.hpp"
#include "base/text.hpp"
#include "model/run_names.hpp"
#include "query/search/filter.hpp"

// Models as runs made them.
namespace ponk::api::mlflow {

namespace {

using query::search::Direction;
using query::search::Entity;

constexpr std::int64_t usual_page = 50;
constexpr std::size_t most_orders = 10;
constexpr std::size_t most_datasets = 100;
constexpr std::size_t most_experiments = 1000;

store::Models models(const Services& services)
{
    return store::Models(services.history());
}

net::Response model_reply(const store::LoggedModel& model)
{
    return reply({{"model", logged_model_json(model)}});
}

Result<std::string> name_of(const Fields& fields)
{
    auto name = TRY(ponk::mlflow::logged_model_name_of(fields));
    return name.empty() ? model::make_run_name() : name;
}

Result<net::Response> create_model(const Services& services, const Call& call)
{
    const auto& fields = call.fields;
    store::NewModel model;
    model.experiment = TRY(experiment_id(fields, "experiment_id"));
    model.name = TRY(name_of(fields));
    model.type = TRY(fields.find_text("model_type")).value_or("");
    model.source_run = TRY(fields.find_text("source_run_id")).value_or("");
    model.params = TRY(params_of(fields));
    model.tags = TRY(tags_of(fields));
    TRY(check_length("model_type", model.type, limits::experiment_name));
    TRY(check_length("source_run_id", model.source_run, limits::experiment_name));
    return model_reply(TRY(models(services).create(model)));
}

Result<net::Response> get_model(const Services& services, const Call& call)
{
    using Deleted = store::Models::Deleted;
    const auto deleted = TRY(call.fields.find_flag("allow_deleted")).value_or(false);
    return model_reply(TRY(
        models(services).get(call.variables[0], deleted ? Deleted::include : Deleted::leave_out)));
}

Result<net::Response> finalize_model(const Services& services, const Call& call)
{
    const auto id = TRY(call.fields.text("model_id"));
    if (id != call.variables[0])
        return tl::unexpected(call.fields.invalid("model_id", "The path names another model"));
    const auto status = TRY(call.fields.find_name(
        "status", {store::model_pending, "LOGGED_MODEL_READY", "LOGGED_MODEL_UPLOAD_FAILED"}));
    if (!status) return tl::unexpected(call.fields.missing("status"));
    return model_reply(TRY(models(services).set_status(id, *status)));
}

Result<net::Response> delete_model(const Services& services, const Call& call)
{
    TRY(models(services).remove(call.variables[0]));
    return reply();
}

Result<net::Response> set_tags(const Services& services, const Call& call)
{
    TRY(models(services).set_tags(call.variables[0], TRY(tags_of(call.fields))));
    return reply();
}

Result<net::Response> delete_tag(const Services& services, const Call& call)
{
    TRY(models(services).remove_tag(call.variables[0], call.variables[1]));
    return reply();
}

Result<net::Response> log_params(const Services& services, const Call& call)
{
    TRY(models(services).log_params(call.variables[0], TRY(params_of(call.fields))));
    return reply();
}

Result<std::vector<std::int64_t>> experiments_of(const Fields& fields)
{
    const auto texts = TRY(fields.texts("experiment_ids"));
    if (texts.empty()) return tl::unexpected(fields.missing("experiment_ids"));
    if (texts.size() > most_experiments)
        return fail(ErrorKind::invalid_argument,
                    "A search can name at most {} experiment_ids",
                    most_experiments);
    std::vector<std::int64_t> ids;
    for (const auto& text : texts) {
        const auto id = parse_experiment_id(text);
        // One that cannot be has no models.
        if (!id && id.error().kind() != ErrorKind::not_found) return tl::unexpected(id.error());
        if (id) ids.push_back(*id);
    }
    return ids;
}

tl::unexpected<Error> no_such_order(std::string_view field, std::string_view why = {})
{
    return fail(
        ErrorKind::invalid_argument, "Invalid order by field name: {}{}", printable(field), why);
}

// "metrics.accuracy", or an attribute by any of its names.
Result<query::search::OrderKey> order_key_of(const Fields& fields)
{
    using namespace query::search;
    const auto field = TRY(fields.find_text("field_name")).value_or("");
    const bool up = TRY(fields.find_flag("ascending")).value_or(true);
    const auto direction = up ? Direction::ascending : Direction::descending;
    const auto dot = field.find('.');
    if (dot != std::string::npos) {
        if (field.substr(0, dot) != "metrics")
            return no_such_order(field, ". Only metrics are supported.");
        return OrderKey{Entity::metric, field.substr(dot + 1), direction};
    }
    const auto* family = find_family(logged_models, Entity::attribute);
    const auto* key = find_key(*family, field, Purpose::order);
    if (!key) return no_such_order(field);
    return OrderKey{Entity::attribute, std::string(key->name), direction};
}

Result<std::vector<store::ModelOrder>> orders_of(const Fields& fields)
{
    std::vector<store::ModelOrder> orders;
    for (const auto& entry : TRY(fields.objects("order_by"))) {
        if (orders.size() == most_orders)
            return fail(
                ErrorKind::invalid_argument, "order_by can have at most {} entries", most_orders);
        auto& order = orders.emplace_back();
        order.key = TRY(order_key_of(entry));
        order.dataset_name = unless_empty(TRY(entry.find_text("dataset_name")));
        order.dataset_digest = unless_empty(TRY(entry.find_text("dataset_digest")));
    }
    return orders;
}

Result<std::vector<store::DatasetName>> datasets_of(const Fields& fields)
{
    std::vector<store::DatasetName> datasets;
    for (const auto& entry : TRY(fields.objects("datasets"))) {
        if (datasets.size() == most_datasets)
            return fail(ErrorKind::invalid_argument,
                        "A search can name at most {} datasets",
                        most_datasets);
        auto name = TRY(entry.find_text("dataset_name")).value_or("");
        if (name.empty())
            return fail(ErrorKind::invalid_argument,
                        "`dataset_name` in the `datasets` clause must be specified.");
        auto digest = unless_empty(TRY(entry.find_text("dataset_digest")));
        datasets.push_back({std::move(name), std::move(digest)});
    }
    return datasets;
}

Result<net::Response> search_models(const Services& services, const Call& call)
{
    const auto& fields = call.fields;
    store::ModelSearch search;
    search.experiments = TRY(experiments_of(fields));
    search.filter = TRY(query::search::parse_filter(query::search::logged_models,
                                                    TRY(fields.find_text("filter")).value_or("")));
    search.datasets = TRY(datasets_of(fields));
    search.order_by = TRY(orders_of(fields));
    search.limit = static_cast<std::size_t>(TRY(page_size_of(fields, usual_page, largest_page)));
    search.page = TRY(fields.find_text("page_token")).value_or("");
    const auto page = TRY(models(services).search(search));
    return reply(page_json("models", page.models, page.next, logged_model_json));
}

}  // namespace

std::span<const Route> logged_model_routes()
{
    using enum Permission;
    static constexpr Route table[] = {
        {"POST", "/api/2.0/mlflow/logged-models", write, create_model},
        {.method = "POST",
         .pattern = "/api/2.0/mlflow/logged-models/search",
         .permission = read,
         .action = search_models,
         .pace = net::Reception::Pace::compute},
        {"GET", "/api/2.0/mlflow/logged-models/{id}", read, get_model},
        {"PATCH", "/api/2.0/mlflow/logged-models/{id}", write, finalize_model},
        {"DELETE", "/api/2.0/mlflow/logged-models/{id}", write, delete_model},
        {"PATCH", "/api/2.0/mlflow/logged-models/{id}/tags", write, set_tags},
        {"DELETE", "/api/2.0/mlflow/logged-models/{id}/tags/{key}", write, delete_tag},
        {"POST", "/api/2.0/mlflow/logged-models/{id}/params", write, log_params},
    };
    return table;
}

}  // namespace ponk::api::mlflow
