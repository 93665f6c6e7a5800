// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/text.hpp"
#include "cli/syntax/exit_code.hpp"
#include "config/files/compute.hpp"

namespace ponk::cli {

// One answer of all commands for a target whose type this version cannot serve. `target` is its
// name or empty, `instead` the next step.
inline Outcome require_served(config::TargetType type,
                              std::string_view target = {},
                              std::string instead = "Run it on this machine with '-t local'.")
{
    if (type == config::TargetType::local) return exit_code::success;
    const char* why = type == config::TargetType::batchai
                          ? "belong to a service that was switched off"
                          : "are not supported by this version";
    return tl::unexpected(Failure(
        Error(ErrorKind::unavailable,
              fmt::format("{}targets of type '{}' {}",
                          target.empty() ? "" : fmt::format("target '{}': ", printable(target)),
                          config::to_string(type),
                          why),
              std::move(instead)),
        exit_code::not_built));
}

inline Outcome require_served(const config::ComputeTarget& target)
{
    return require_served(target.type.value, target.name);
}

// What runs go to, and can be attached, looked at and prepared.
inline Outcome require_runs(config::TargetType type,
                            std::string_view target = {},
                            std::string instead = "Run it on this machine with '-t local'.")
{
    using config::TargetType;
    if (type == TargetType::localdocker || type == TargetType::remotedocker ||
        type == TargetType::remote)
        return exit_code::success;
    return require_served(type, target, std::move(instead));
}

inline Outcome require_runs(const config::ComputeTarget& target)
{
    return require_runs(target.type.value, target.name);
}

}  // namespace ponk::cli
