// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/limits.hpp"
#include "api/mlflow/model_json.hpp"
#include "api/mlflow/registry/model_source.hpp"
#include "api/mlflow/registry/registry_fields.hpp"
#include "api/mlflow/registry/registry_routes.hpp"

// Versions of registered models.
namespace ponk::api::mlflow {

namespace {

constexpr std::int64_t most_versions = 200'000;

store::Registry registry(const Services& services)
{
    return store::Registry(services.history());
}

net::Response version_reply(const store::ModelVersion& version)
{
    return reply({{"model_version", model_version_json(version)}});
}

// What names a version in every call about one.
struct Named {
    std::string name;
    std::int64_t version = 0;
};

Result<Named> named(const Fields& fields)
{
    auto name = TRY(model_name_of(fields));
    const auto version = TRY(version_of(fields));
    return Named{std::move(name), version};
}

Result<net::Response> create_version(const Services& services, const Call& call)
{
    const auto& fields = call.fields;
    store::NewVersion version;
    version.name = TRY(model_name_of(fields));
    version.tags = TRY(registry_tags_of(fields));
    auto source = TRY(source_of(services, fields, version.tags));
    version.source = std::move(source.text);
    version.location = std::move(source.location);
    version.run = std::move(source.run);
    version.logged_model = std::move(source.logged_model);
    version.run_link = TRY(fields.find_text("run_link")).value_or("");
    version.description = TRY(fields.find_text("description")).value_or("");
    return version_reply(TRY(registry(services).create_version(version)));
}

Result<net::Response> get_version(const Services& services, const Call& call)
{
    const auto one = TRY(named(call.fields));
    return version_reply(TRY(registry(services).get_version(one.name, one.version)));
}

Result<net::Response> get_download_uri(const Services& services, const Call& call)
{
    const auto one = TRY(named(call.fields));
    const auto version = TRY(registry(services).get_version(one.name, one.version));
    return reply({{"artifact_uri", version.location}});
}

Result<net::Response> update_version(const Services& services, const Call& call)
{
    const auto one = TRY(named(call.fields));
    const auto description = TRY(call.fields.find_text("description"));
    return version_reply(
        TRY(registry(services).describe_version(one.name, one.version, description)));
}

Result<net::Response> transition_stage(const Services& services, const Call& call)
{
    using Others = store::Registry::Others;
    const auto one = TRY(named(call.fields));
    const auto stage = TRY(parse_stage(TRY(call.fields.text("stage"))));
    const auto archive = TRY(call.fields.find_flag("archive_existing_versions")).value_or(false);
    if (archive && stage != "Staging" && stage != "Production")
        return fail(
            ErrorKind::invalid_argument,
            "Model version transition cannot archive existing model versions because '{}' is"
            " not an Active stage. Valid stages are ['Staging', 'Production']",
            stage);
    return version_reply(TRY(registry(services).set_stage(
        one.name, one.version, stage, archive ? Others::archive : Others::keep)));
}

Result<net::Response> delete_version(const Services& services, const Call& call)
{
    const auto one = TRY(named(call.fields));
    TRY(registry(services).remove_version(one.name, one.version));
    return reply();
}

Result<net::Response> search_versions(const Services& services, const Call& call)
{
    const auto search = TRY(registry_search_of(
        call.fields, query::search::model_versions, most_versions, most_versions));
    const auto page = TRY(registry(services).search_versions(search));
    return reply(page_json("model_versions", page.versions, page.next, model_version_json));
}

Result<net::Response> set_version_tag(const Services& services, const Call& call)
{
    const auto one = TRY(named(call.fields));
    const auto key = TRY(key_of(call.fields, "key", "key"));
    const auto value = TRY(registry_tag_value_of(call.fields));
    TRY(registry(services).set_version_tag(one.name, one.version, key, value));
    return reply();
}

Result<net::Response> delete_version_tag(const Services& services, const Call& call)
{
    const auto one = TRY(named(call.fields));
    const auto key = TRY(key_of(call.fields, "key", "key"));
    TRY(registry(services).remove_version_tag(one.name, one.version, key));
    return reply();
}

}  // namespace

std::span<const Route> registry_routes()
{
    using enum Permission;
    static constexpr Route table[] = {
        {"POST", "/api/2.0/mlflow/registered-models/create", write, create_registered_model},
        {"GET", "/api/2.0/mlflow/registered-models/get", read, get_registered_model},
        {"POST", "/api/2.0/mlflow/registered-models/rename", promote, rename_registered_model},
        {"PATCH", "/api/2.0/mlflow/registered-models/update", write, update_registered_model},
        {"DELETE", "/api/2.0/mlflow/registered-models/delete", promote, delete_registered_model},
        {.method = "GET",
         .pattern = "/api/2.0/mlflow/registered-models/search",
         .permission = read,
         .action = search_registered_models,
         .pace = net::Reception::Pace::compute},
        {"POST", "/api/2.0/mlflow/registered-models/set-tag", write, set_registered_model_tag},
        {"DELETE",
         "/api/2.0/mlflow/registered-models/delete-tag",
         write,
         delete_registered_model_tag},
        {"POST", "/api/2.0/mlflow/registered-models/alias", promote, set_alias},
        {"DELETE", "/api/2.0/mlflow/registered-models/alias", promote, delete_alias},
        {"GET", "/api/2.0/mlflow/registered-models/alias", read, get_by_alias},
        {"POST", "/api/2.0/mlflow/registered-models/get-latest-versions", read, latest_versions},
        {"GET", "/api/2.0/mlflow/registered-models/get-latest-versions", read, latest_versions},
        {"POST", "/api/2.0/mlflow/model-versions/create", write, create_version},
        {"GET", "/api/2.0/mlflow/model-versions/get", read, get_version},
        {"GET", "/api/2.0/mlflow/model-versions/get-download-uri", read, get_download_uri},
        {"PATCH", "/api/2.0/mlflow/model-versions/update", write, update_version},
        {"POST", "/api/2.0/mlflow/model-versions/transition-stage", promote, transition_stage},
        {"DELETE", "/api/2.0/mlflow/model-versions/delete", promote, delete_version},
        {.method = "GET",
         .pattern = "/api/2.0/mlflow/model-versions/search",
         .permission = read,
         .action = search_versions,
         .pace = net::Reception::Pace::compute},
        {"POST", "/api/2.0/mlflow/model-versions/set-tag", write, set_version_tag},
        {"DELETE", "/api/2.0/mlflow/model-versions/delete-tag", write, delete_version_tag},
    };
    return table;
}

}  // namespace ponk::api::mlflow
