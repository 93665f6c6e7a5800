// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environment/spec/spec.hpp"
#include "environment/tools/rattler.hpp"

#include <optional>

namespace ponk::environment {

// Makes the prefix with a conda tool of the user's. Channels and specs reach it in files, because
// they may hold tokens and an argument list is for everyone to see.
Result<> create_by_conda_tool(const CondaTool& tool,
                              const EnvironmentSpec& spec,
                              const std::optional<Lock>& lock,
                              const Path& prefix,
                              const BuildContext& context);

// The texts of those files, also for builds inside of images.
std::string conda_file(const PackageRequest& packages);
Result<std::string> pixi_manifest(const PackageRequest& packages, const std::string& platform);

}  // namespace ponk::environment
