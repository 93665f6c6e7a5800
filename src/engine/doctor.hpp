// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context.hpp"

#include <string>
#include <vector>

namespace ponk::engine {

struct Check {
    std::string name;
    std::string status;  // ok, warning, error
    std::string message;
    std::string hint;
};

// Looks at this machine and at our own data: disk, database, object store, programs.
std::vector<Check> examine(const Context& context);

}  // namespace ponk::engine
