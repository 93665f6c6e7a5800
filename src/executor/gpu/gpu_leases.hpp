// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"

#include <string>
#include <vector>

namespace ponk::executor {

// Adds `lease` to each entry of `devices` that has a `uuid`: {user, run, pid, since} of who has it,
// null when it is free. Where the locks cannot be asked there is no such member.
void add_leases(JsonArray& devices, const std::vector<std::string>& environment);

}  // namespace ponk::executor
