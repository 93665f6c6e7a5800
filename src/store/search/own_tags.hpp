// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/search/comparison.hpp"
#include "store/records.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ponk::store {

// Tags that clients look for on every run and that nobody has to set: the run's name, its parent,
// and for runs of ours who and what made them.

// The commit that the script of the row of `run` is of, as SQL; NULL where it is not known.
inline constexpr std::string_view commit_column =
    "CASE WHEN run.origin = 'engine' AND json_valid(run.details)"
    " THEN nullif(json_extract(run.details, '$.git.commit'), '') END";

// The value of such a tag of the row of `run`, as SQL; NULL where the run has none. A tag that was
// set comes before ours. nullopt: no such tag.
std::optional<std::string>
own_tag_column(query::search::Entity entity, std::string_view key, RunSearch::Words words);

}  // namespace ponk::store
