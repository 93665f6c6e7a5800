// SPDX-License-Identifier: Apache-2.0
#include "store/copy/copies.hpp"
#include "store/copy/copy_fields.hpp"

#include <limits>

namespace ponk::store {

namespace {

Result<ModelMetric> parse_model_metric(const Json& item, const std::string& model)
{
    ModelMetric metric;
    const auto& told = item["value"];
    metric.value = std::numeric_limits<double>::quiet_NaN();
    if (told.is_number()) {
        metric.value = told.as_double();
    } else if (told.is_string() && told.as_string().ends_with("Infinity")) {
        metric.value =
            std::numeric_limits<double>::infinity() * (told.as_string().front() == '-' ? -1 : 1);
    } else if (!told.is_string() || told.as_string() != "NaN") {
        return wrong("metrics.value", "a number");
    }
    metric.model = model;
    metric.key = TRY(text_of(item, "key"));
    metric.time = TRY(integer_of(item, "time"));
    metric.step = TRY(integer_of(item, "step"));
    metric.dataset_name = TRY(optional_text_of(item, "dataset_name"));
    metric.dataset_digest = TRY(optional_text_of(item, "dataset_digest"));
    metric.run = TRY(text_of(item, "run_id"));
    return metric;
}

Json version_json(const ModelVersion& version)
{
    return JsonObject{{"version", version.version},
                      {"created", version.created},
                      {"updated", version.updated},
                      {"description", optional_text(version.description)},
                      {"stage", version.stage},
                      {"source", version.source},
                      {"location", version.location},
                      {"run_id", version.run},
                      {"run_link", version.run_link},
                      {"model_id", version.logged_model},
                      {"tags", pairs_json(version.tags)}};
}

Result<ModelVersion> parse_version(const Json& item, const std::string& name)
{
    ModelVersion version;
    version.name = name;
    version.version = TRY(integer_of(item, "version"));
    version.created = TRY(integer_of(item, "created"));
    version.updated = TRY(integer_of(item, "updated"));
    version.description = TRY(optional_text_of(item, "description"));
    version.stage = TRY(text_of(item, "stage"));
    version.source = TRY(text_of(item, "source"));
    version.location = TRY(text_of(item, "location"));
    version.run = TRY(text_of(item, "run_id"));
    version.run_link = TRY(text_of(item, "run_link"));
    version.logged_model = TRY(text_of(item, "model_id"));
    version.tags = TRY(pairs_of(item, "tags"));
    if (version.version <= 0) return wrong("versions.version", "a number from 1 on");
    return version;
}

}  // namespace

Json model_copy_json(const ModelCopy& copy)
{
    const auto& model = copy.model;
    JsonArray metrics;
    for (const auto& metric : model.metrics) {
        metrics.emplace_back(JsonObject{{"key", metric.key},
                                        {"value", metric.value},
                                        {"time", metric.time},
                                        {"step", metric.step},
                                        {"dataset_name", optional_text(metric.dataset_name)},
                                        {"dataset_digest", optional_text(metric.dataset_digest)},
                                        {"run_id", metric.run}});
    }
    return JsonObject{{"model_id", model.id},
                      {"name", model.name},
                      {"type", model.type},
                      {"status", model.status},
                      {"source_run", model.source_run},
                      {"location", model.location},
                      {"created", model.created},
                      {"updated", model.updated},
                      {"deleted", copy.deleted},
                      {"params", pairs_json(model.params)},
                      {"tags", pairs_json(model.tags)},
                      {"metrics", std::move(metrics)}};
}

Result<ModelCopy> parse_model_copy(const Json& json)
{
    if (!json.is_object()) return wrong("logged_model", "an object");
    ModelCopy copy;
    auto& model = copy.model;
    model.id = TRY(text_of(json, "model_id"));
    model.name = TRY(text_of(json, "name"));
    model.type = TRY(text_of(json, "type"));
    model.status = TRY(text_of(json, "status"));
    model.source_run = TRY(text_of(json, "source_run"));
    model.location = TRY(text_of(json, "location"));
    model.created = TRY(integer_of(json, "created"));
    model.updated = TRY(integer_of(json, "updated"));
    model.params = TRY(pairs_of(json, "params"));
    model.tags = TRY(pairs_of(json, "tags"));
    copy.deleted = TRY(flag_of(json, "deleted"));
    if (json["metrics"].is_array()) {
        for (const auto& item : json["metrics"].as_array())
            model.metrics.push_back(TRY(parse_model_metric(item, model.id)));
    }
    return copy;
}

Json registered_json(const RegisteredCopy& registered)
{
    const auto& model = registered.model;
    JsonArray versions;
    for (const auto& version : registered.versions)
        versions.push_back(version_json(version));
    JsonObject aliases;
    for (const auto& [alias, version] : model.aliases)
        aliases.set(alias, version);
    return JsonObject{{"name", model.name},
                      {"description", model.description},
                      {"created", model.created},
                      {"updated", model.updated},
                      {"last_version", registered.last_version},
                      {"tags", pairs_json(model.tags)},
                      {"versions", std::move(versions)},
                      {"aliases", std::move(aliases)}};
}

Result<RegisteredCopy> parse_registered(const Json& json)
{
    if (!json.is_object()) return wrong("registered_model", "an object");
    RegisteredCopy copy;
    auto& model = copy.model;
    model.name = TRY(text_of(json, "name"));
    if (model.name.empty()) return wrong("name", "the name of a model");
    model.description = TRY(text_of(json, "description"));
    model.created = TRY(integer_of(json, "created"));
    model.updated = TRY(integer_of(json, "updated"));
    model.tags = TRY(pairs_of(json, "tags"));
    copy.last_version = TRY(integer_of(json, "last_version"));
    if (json["versions"].is_array()) {
        for (const auto& item : json["versions"].as_array())
            copy.versions.push_back(TRY(parse_version(item, model.name)));
    }
    if (json["aliases"].is_object()) {
        for (const auto& [alias, version] : json["aliases"].as_object()) {
            if (!version.is_integer()) return wrong("aliases", "numbers of versions by alias");
            model.aliases.emplace_back(alias, version.as_integer());
        }
    }
    return copy;
}

}  // namespace ponk::store
