// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/resolve_run.hpp"

#include <optional>
#include <string>

namespace ponk::engine {

// The one file of the project that is needed to prepare its environment, relative to it; an empty
// name where none is. nullopt when it names others (wheels, requirements): then the whole project
// is.
std::optional<std::string> part_for_preparation(const Path& project, const RunSpec& spec);

}  // namespace ponk::engine
