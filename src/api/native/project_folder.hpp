// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/services.hpp"

#include <string>

namespace ponk::api {

// The folder of a project that history knows: absolute, for a relative one would be looked for
// below the daemon's own folder. `not_found` when it has none on this machine.
Result<os::Path> folder_of(const Services& services, const std::string& id);

}  // namespace ponk::api
