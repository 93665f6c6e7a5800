// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "snapshot/take_snapshot.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace ponk::engine {

// For a "notice" or "progress" line.
using Tell = std::function<void(const std::string& kind, const std::string& line)>;

// Stores the project's files, or only the file `part` of it (an empty name: none). Lines about a
// long walk go to `tell`.
Result<snapshot::SnapshotReport> store_project(const Context& context,
                                               const Path& project,
                                               const std::optional<std::string>& part,
                                               const Tell& tell,
                                               std::stop_token stop);

}  // namespace ponk::engine
