// SPDX-License-Identifier: Apache-2.0
#include "base/field_json.hpp"
#include "store/copy/copies.hpp"

namespace ponk::store {

Json model_copy_json(const ModelCopy& copy)
{
    auto json = fields_to_json(copy.model);
    if (copy.deleted) json.as_object().set("deleted", true);
    return json;
}

Result<ModelCopy> parse_model_copy(const Json& json)
{
    ModelCopy copy;
    TRY(read_fields(json, copy.model, "logged_model"));
    TRY(read_member(json, "deleted", copy.deleted));
    if (json["metrics"].is_array()) {
        for (const auto& metric : json["metrics"].as_array())
            if (metric["value"].is_null()) return fields::wrong("metrics.value", "a number");
    }
    for (auto& metric : copy.model.metrics)
        metric.model = copy.model.id;
    return copy;
}

Json registered_json(const RegisteredCopy& registered)
{
    auto json = fields_to_json(registered.model);
    json.as_object().set("last_version", registered.last_version);
    json.as_object().set("versions", fields::write(registered.versions));
    return json;
}

Result<RegisteredCopy> parse_registered(const Json& json)
{
    RegisteredCopy copy;
    TRY(read_fields(json, copy.model, "registered_model"));
    if (copy.model.name.empty()) return fields::wrong("name", "the name of a model");
    TRY(read_member(json, "last_version", copy.last_version));
    TRY(read_member(json, "versions", copy.versions));
    for (auto& version : copy.versions) {
        version.name = copy.model.name;
        if (version.version <= 0) return fields::wrong("versions.version", "a number from 1 on");
    }
    return copy;
}

}  // namespace ponk::store
