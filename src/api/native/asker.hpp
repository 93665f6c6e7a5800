// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"

#include <string>
#include <vector>

namespace ponk::api {

// The client's own environment ("K=V") from a request's body. Without one, a client asks in the
// environment that the daemon was started in.
std::vector<std::string> environment_of(const Json& body);

}  // namespace ponk::api
