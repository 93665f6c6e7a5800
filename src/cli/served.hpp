// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/exit_code.hpp"
#include "config/compute.hpp"

namespace ponk::cli {

// One answer of all commands for a target whose type this version cannot serve.
inline Outcome require_served(const config::ComputeTarget& target)
{
    if (target.type.value == config::TargetType::local) return exit_code::success;
    return tl::unexpected(
        Failure(Error(ErrorKind::unavailable,
                      fmt::format("targets of type '{}' are not built into this version",
                                  config::to_string(target.type.value)),
                      "Run it on this machine with '-t local'."),
                exit_code::not_built));
}

}  // namespace ponk::cli
