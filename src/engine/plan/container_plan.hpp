// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/project/project.hpp"
#include "model/run_spec.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::engine {

// The image of a target that names none: small, kept up, with a Python that environments build on.
// (The predecessor's own image is gone.)
inline constexpr const char* default_image = "python:3.11-slim";

// nullopt for targets without containers. `notices` gets what the user should know.
Result<std::optional<model::Container>> container_of(const config::ResolvedConfiguration& resolved,
                                                     std::vector<std::string>& notices);

}  // namespace ponk::engine
