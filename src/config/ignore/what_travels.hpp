// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/ignore/travel_rules.hpp"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

// A look at a whole project, for people.
struct WhatTravels {
    struct LeftOut {
        std::string path;  // a folder with a slash at the end
        std::string rule;
    };
    struct Part {
        std::string name;  // of an entry of the project's folder, likewise
        std::uint64_t bytes = 0;
    };
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::vector<Part> largest;      // three at most, largest first
    std::vector<LeftOut> left_out;  // sorted
    // Files of secrets that travel only because git tracks them, sorted.
    std::vector<std::string> tracked_secrets;
};

// One line about them, for people. `paths` is not empty.
std::string secrets_notice(const std::vector<std::string>& paths);

// Reads no file but those of rules. `ignored`: what stays out besides.
Result<WhatTravels>
what_travels(const os::Path& project,
             const TravelRules& rules,
             const std::function<bool(std::string_view path, bool is_directory)>& ignored = {},
             std::stop_token stop = {});

}  // namespace ponk::config
