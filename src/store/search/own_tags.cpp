// SPDX-License-Identifier: Apache-2.0
#include "store/search/own_tags.hpp"

#include "store/rows/tracked_rows.hpp"
#include "store/search/search_term.hpp"

#include <fmt/format.h>

#include <array>

namespace ponk::store {

using query::search::Entity;

std::optional<std::string>
own_tag_column(Entity entity, std::string_view key, RunSearch::Words words)
{
    if (entity == Entity::tag && key == parent_tag) return "nullif(run.parent, '')";
    if (entity != Entity::tag || words != RunSearch::Words::mlflow) return std::nullopt;
    if (key == run_name_tag) return fmt::format("({})", name_column(words));
    // As TrackedRun::tags has them.
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> columns{{
        {"mlflow.user", "run.user"},
        {"mlflow.source.name", "run.script_name"},
        {"mlflow.source.type", "'LOCAL'"},
        {"mlflow.source.git.commit", commit_column},
        {"ponk.state", "CASE run.state WHEN 'Lost' THEN 'Lost' END"},
    }};
    for (const auto& [name, column] : columns) {
        if (key != name) continue;
        return fmt::format(
            "coalesce((SELECT value FROM tag WHERE tag.run = run.row AND tag.key = '{}'),"
            " CASE run.origin WHEN 'engine' THEN {} END)",
            name,
            column);
    }
    return std::nullopt;
}

}  // namespace ponk::store
