// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/conda.hpp"

#include <string_view>

namespace ponk::config {

// Whether a document is a python_env.yaml of MLflow, by its name or by the keys that only it has.
bool is_python_env(std::string_view name, const Node& root);

// The file that `python_env` of an MLproject names: `python`, `build_dependencies`, `dependencies`.
CondaEnvironment read_python_env(const Node& root, Report& report);

}  // namespace ponk::config
