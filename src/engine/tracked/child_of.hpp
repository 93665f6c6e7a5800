// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/id.hpp"
#include "store/rows/tracked_rows.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Runs, models and traces that the script of a run made by MLflow's API.
namespace ponk::engine {

// Whose script made it; only that run's journals may speak of it. A run has its parent beside its
// tags (model::Run::parent).
using store::parent_tag;

// The tag of a model, a version or a trace as it is stored.
inline std::pair<std::string, std::string> child_of(const RunId& run)
{
    return {std::string(parent_tag), run.text()};
}

// Who made what has these tags; empty when nobody here did.
inline std::string parent_of(const std::vector<std::pair<std::string, std::string>>& tags)
{
    const auto found =
        std::ranges::find(tags, parent_tag, [](const auto& tag) { return tag.first; });
    return found == tags.end() ? std::string() : found->second;
}

// What a client could have got wrong, and a script may have written on purpose, holds nobody up.
inline bool is_their_fault(const Error& error)
{
    return error.kind() == ErrorKind::invalid_argument || error.kind() == ErrorKind::not_found ||
           error.kind() == ErrorKind::conflict;
}

template <class T>
Result<> forgive(const Result<T>& result)
{
    if (result || is_their_fault(result.error())) return {};
    return tl::unexpected(result.error());
}

// Where the files of what a run made are among its outputs.
inline constexpr const char* child_runs_folder = "runs";
inline constexpr const char* child_models_folder = "models";
inline constexpr const char* child_traces_folder = "traces";

}  // namespace ponk::engine
