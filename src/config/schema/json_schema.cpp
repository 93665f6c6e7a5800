// SPDX-License-Identifier: Apache-2.0
#include "config/schema/json_schema.hpp"

#include "config/schema/key_meanings.hpp"
#include "config/schema/schemas.hpp"

namespace ponk::config {

namespace {

constexpr std::string_view kinds[] = {
    "runconfig", "compute", "conda", "spark", "project", "mlproject"};

JsonObject properties_of(const Schema& schema);

// Nothing is right for every key: it means the default.
JsonObject typed(std::initializer_list<const char*> types)
{
    JsonArray names;
    for (const char* type : types)
        names.push_back(type);
    names.push_back("null");
    return {{"type", std::move(names)}};
}

// Any scalar is text: `version: 0.10` is "0.10".
JsonObject scalar()
{
    return typed({"string", "number", "boolean"});
}

JsonObject list_of(JsonObject item)
{
    JsonObject list = typed({"array"});
    list.set("items", std::move(item));
    return list;
}

JsonObject map_of(const Schema& schema)
{
    JsonObject map = typed({"object"});
    map.set("properties", properties_of(schema));
    map.set("additionalProperties", false);
    return map;
}

JsonObject one_of_words(std::span<const std::string_view> words)
{
    JsonArray allowed;
    for (const std::string_view word : words)
        allowed.push_back(std::string(word));
    allowed.push_back(Json());
    return {{"enum", std::move(allowed)}};
}

JsonObject value_of(const Key& key)
{
    switch (key.kind) {
    case ValueKind::text:
        return key.words.empty() ? scalar() : one_of_words(key.words);
    case ValueKind::boolean:
        return typed({"boolean"});
    case ValueKind::integer:
        return typed({"integer"});
    case ValueKind::number:
        return typed({"number"});
    case ValueKind::duration: {
        JsonObject duration = typed({"string", "integer"});
        duration.set("pattern", "^[0-9]+ *[smhd]?$");
        return duration;
    }
    case ValueKind::text_or_list: {
        JsonObject both = typed({"string", "number", "boolean", "array"});
        both.set("items", scalar());
        return both;
    }
    case ValueKind::text_list:
        return list_of(scalar());
    case ValueKind::text_map: {
        JsonObject map = typed({"object"});
        map.set("additionalProperties", scalar());
        return map;
    }
    case ValueKind::section:
        return key.section != nullptr ? map_of(*key.section) : typed({"object"});
    case ValueKind::section_list:
        return list_of(key.section != nullptr ? map_of(*key.section) : typed({"object"}));
    case ValueKind::text_tree:
    case ValueKind::free:
        break;
    }
    return {};
}

JsonObject properties_of(const Schema& schema)
{
    JsonObject properties;
    for (const Key& key : schema.keys) {
        JsonObject value = value_of(key);
        value.set("description", meaning_of(schema, key));
        if (!key.no_effect.empty()) value.set("deprecated", true);
        properties.append(std::string(key.name), std::move(value));
    }
    return properties;
}

// A file with a key that only the schema of late 2018 has is read by that schema.
JsonObject run_configuration()
{
    JsonArray signs;
    for (const Key& key : nested_run_schema().keys) {
        if (flat_run_schema().find(key.name) != nullptr) continue;
        signs.push_back(JsonObject{{"required", JsonArray{std::string(key.name)}}});
    }
    return {{"if", JsonObject{{"anyOf", std::move(signs)}}},
            {"then", map_of(nested_run_schema())},
            {"else", map_of(flat_run_schema())}};
}

std::optional<JsonObject> content_of(std::string_view kind)
{
    if (kind == "runconfig") return run_configuration();
    if (kind == "compute") return map_of(compute_schema());
    if (kind == "conda") return map_of(conda_schema());
    if (kind == "spark") return map_of(spark_schema());
    if (kind == "project") return map_of(project_schema());
    if (kind == "mlproject") return map_of(mlproject_schema());
    return std::nullopt;
}

}  // namespace

std::span<const std::string_view> json_schema_kinds()
{
    return kinds;
}

std::optional<Json> find_json_schema(std::string_view kind)
{
    auto content = content_of(kind);
    if (!content) return std::nullopt;
    JsonObject document{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                        {"title", std::string(kind)}};
    for (auto& [name, value] : *content)
        document.append(name, std::move(value));
    return Json(std::move(document));
}

}  // namespace ponk::config
