// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <string>
#include <vector>

namespace ponk::os {

// The variables ("K=V") for a helper program that we start: PATH without relative folders, which
// mean whatever folder the helper is in, and without those below `foreign`, which somebody else may
// have filled. Scripts get PATH as the user has it.
std::vector<std::string> helper_environment(std::vector<std::string> environment,
                                            const Path& foreign = {});

}  // namespace ponk::os
