// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/limits.hpp"
#include "api/mlflow/model_json.hpp"
#include "api/mlflow/registry/registry_fields.hpp"
#include "api/mlflow/registry/registry_routes.hpp"

// Names of the registry, their tags and aliases.
namespace ponk::api::mlflow {

namespace {

constexpr std::int64_t usual_page = 100;
constexpr std::int64_t most_models = 1000;

store::Registry registry(const Services& services)
{
    return store::Registry(services.history());
}

net::Response model_reply(const store::RegisteredModel& model)
{
    return reply({{"registered_model", registered_model_json(model)}});
}

}  // namespace

Result<net::Response> create_registered_model(const Services& services, const Call& call)
{
    const auto name = TRY(model_name_of(call.fields));
    const auto tags = TRY(registry_tags_of(call.fields));
    const auto description = TRY(call.fields.find_text("description")).value_or("");
    return model_reply(TRY(registry(services).create(name, description, tags)));
}

Result<net::Response> get_registered_model(const Services& services, const Call& call)
{
    return model_reply(TRY(registry(services).get(TRY(model_name_of(call.fields)))));
}

Result<net::Response> rename_registered_model(const Services& services, const Call& call)
{
    const auto name = TRY(model_name_of(call.fields));
    const auto new_name = TRY(model_name_of(call.fields, "new_name"));
    return model_reply(TRY(registry(services).rename(name, new_name)));
}

Result<net::Response> update_registered_model(const Services& services, const Call& call)
{
    const auto name = TRY(model_name_of(call.fields));
    const auto description = TRY(call.fields.find_text("description")).value_or("");
    return model_reply(TRY(registry(services).describe(name, description)));
}

Result<net::Response> delete_registered_model(const Services& services, const Call& call)
{
    TRY(registry(services).remove(TRY(model_name_of(call.fields))));
    return reply();
}

Result<net::Response> search_registered_models(const Services& services, const Call& call)
{
    const auto search = TRY(
        registry_search_of(call.fields, query::search::registered_models, usual_page, most_models));
    const auto page = TRY(registry(services).search(search));
    return reply(page_json("registered_models", page.models, page.next, registered_model_json));
}

Result<net::Response> set_registered_model_tag(const Services& services, const Call& call)
{
    const auto name = TRY(model_name_of(call.fields));
    const auto key = TRY(key_of(call.fields, "key", "key"));
    TRY(registry(services).set_tag(name, key, TRY(registry_tag_value_of(call.fields))));
    return reply();
}

Result<net::Response> delete_registered_model_tag(const Services& services, const Call& call)
{
    const auto name = TRY(model_name_of(call.fields));
    TRY(registry(services).remove_tag(name, TRY(key_of(call.fields, "key", "key"))));
    return reply();
}

Result<net::Response> set_alias(const Services& services, const Call& call)
{
    const auto name = TRY(model_name_of(call.fields));
    const auto alias = TRY(new_alias_of(call.fields));
    TRY(registry(services).set_alias(name, alias, TRY(version_of(call.fields))));
    return reply();
}

Result<net::Response> delete_alias(const Services& services, const Call& call)
{
    const auto name = TRY(model_name_of(call.fields));
    TRY(registry(services).remove_alias(name, TRY(alias_of(call.fields))));
    return reply();
}

Result<net::Response> get_by_alias(const Services& services, const Call& call)
{
    const auto name = TRY(model_name_of(call.fields));
    const auto version = TRY(registry(services).get_by_alias(name, TRY(alias_of(call.fields))));
    return reply({{"model_version", model_version_json(version)}});
}

Result<net::Response> latest_versions(const Services& services, const Call& call)
{
    const auto name = TRY(model_name_of(call.fields));
    std::vector<std::string> stages;
    for (const auto& stage : TRY(call.fields.texts("stages")))
        stages.push_back(TRY(parse_stage(stage)));
    const auto versions = TRY(registry(services).latest_versions(name, stages));
    return reply(page_json("model_versions", versions, "", model_version_json));
}

}  // namespace ponk::api::mlflow
