// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "os/file.hpp"
#include "os/variables.hpp"

#include <string>
#include <vector>

// The settings of the user's own Docker client: contexts and logins made there hold here too.
namespace ponk::dockerapi {

using os::Path;

using os::variable;
// $DOCKER_CONFIG, else ~/.docker.
Path settings_folder(const std::vector<std::string>& environment);
// Its config.json; an empty object when there is none.
Result<Json> read_settings(const Path& folder);

}  // namespace ponk::dockerapi
