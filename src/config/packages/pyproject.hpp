// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/conda.hpp"

#include <optional>
#include <string_view>

namespace ponk::config {

// The table that names packages: [project] of a pyproject.toml, or all of a script's metadata.
CondaEnvironment read_requirements(const Node& table, Report& report);

// The TOML text in a script's comment block "# /// script" (PEP 723), its lines where they are in
// the script; nullopt when there is none.
std::optional<std::string> script_metadata(std::string_view script);

}  // namespace ponk::config
