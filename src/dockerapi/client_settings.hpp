// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "os/file.hpp"

#include <string>
#include <string_view>
#include <vector>

// The settings of the user's own Docker client: contexts and logins made there hold here too.
namespace ponk::dockerapi {

using os::Path;

// The value of `name` among "K=V" words; empty when it is not set.
std::string variable(const std::vector<std::string>& environment, std::string_view name);
// $DOCKER_CONFIG, else ~/.docker.
Path settings_folder(const std::vector<std::string>& environment);
// Its config.json; an empty object when there is none.
Result<Json> read_settings(const Path& folder);

}  // namespace ponk::dockerapi
