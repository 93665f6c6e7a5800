// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ponk::config {

// A look at a whole project, for people.
struct WhatTravels {
    struct LeftOut {
        std::string path;  // a folder with a slash at the end
        std::string rule;
    };
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::vector<LeftOut> left_out;  // sorted
};

// Reads no file but those of rules.
Result<WhatTravels> what_travels(const os::Path& project);

}  // namespace ponk::config
