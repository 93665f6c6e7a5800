// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/run_names.hpp"

#include "base/keyed_hash.hpp"
#include "base/text.hpp"
#include "model/metric_direction.hpp"
#include "model/run_words.hpp"

#include <algorithm>

namespace ponk::cli {
namespace {

std::string_view member_of(Entity entity)
{
    switch (entity) {
    case Entity::metric:
        return "metrics";
    case Entity::param:
        return "params";
    default:
        return "tags";
    }
}

}  // namespace

const Json& last_of(const Json& value)
{
    static const Json none;
    if (value.is_array()) return value.as_array().empty() ? none : value.as_array().back();
    return value.is_object() ? value["last"] : value;
}

Json value_of(const Json& run, const FieldName& name)
{
    if (name.entity == Entity::metric) return last_of(run["metrics"][name.key]);
    if (name.entity != Entity::attribute) return run[member_of(name.entity)][name.key];
    const Json* value = &run;
    for (const std::string& part : split(name.key, '.'))
        value = &(*value)[part];
    return *value;
}

std::vector<std::string> names_of(const JsonArray& runs, Entity entity)
{
    std::vector<std::string> names;
    KeyedMap<int, std::string_view> seen;
    for (const Json& run : runs) {
        const Json& values = entity == Entity::attribute ? run : run[member_of(entity)];
        if (!values.is_object()) continue;
        for (const auto& [name, value] : values.as_object()) {
            // Metrics are fields of the record as well.
            const bool own =
                entity != Entity::attribute || !(run["metrics"][name] == value) || value.is_null();
            if (own && seen.emplace(name, 0).second) names.push_back(name);
        }
    }
    return names;
}

std::vector<std::string> common_metrics(const JsonArray& newest_first, std::size_t most)
{
    struct Seen {
        std::string name;
        bool judged = false;  // says how good a run is, as far as its name tells
        std::size_t runs = 0;
    };
    std::vector<Seen> seen;
    KeyedMap<std::size_t, std::string_view> places;
    for (const Json& run : newest_first) {
        if (!run["metrics"].is_object()) continue;
        for (const auto& [name, value] : run["metrics"].as_object()) {
            if (value.is_object() || value.is_array() || name.starts_with(model::system_prefix))
                continue;
            const auto [place, fresh] = places.emplace(name, seen.size());
            if (fresh) seen.push_back({name, model::better_of(name) != model::Better::unknown});
            ++seen[place->second].runs;
        }
    }
    std::ranges::stable_sort(seen, [](const Seen& a, const Seen& b) {
        return std::pair(a.runs, a.judged) > std::pair(b.runs, b.judged);
    });
    std::vector<std::string> names;
    for (Seen& one : seen) {
        if (names.size() == most) break;
        names.push_back(std::move(one.name));
    }
    return names;
}

}  // namespace ponk::cli
