// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"

#include <string>
#include <vector>

namespace ponk::engine {

struct Check {
    std::string name;
    std::string status;  // ok, warn, fail
    std::string message;
    std::string hint;
};

enum class Depth {
    usual,
    full,  // reads all of the database
};
// Looks at this machine and at our own data: kernel, disk, database, limits, keyring. What is not
// ok has a hint with the next step.
std::vector<Check> examine(const Context& context, Depth depth);

}  // namespace ponk::engine
