// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/conda.hpp"

#include <optional>
#include <string_view>

namespace ponk::config {

// The packages that 'uv sync' installs for the project: pinned, each with the checksums that the
// lock has and with the condition under which it is needed. The project itself is not among them.
// Without a value the reason is in `report`.
std::optional<CondaEnvironment> read_uv_lock(std::string_view text, Report& report);

}  // namespace ponk::config
