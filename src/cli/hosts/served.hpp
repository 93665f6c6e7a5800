// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/text.hpp"
#include "cli/syntax/exit_code.hpp"
#include "config/files/compute.hpp"

namespace ponk::cli {

// For every command that needs a target which runs can go to. `target` is its name or empty,
// `instead` the next step.
inline Outcome require_runs(config::TargetType type,
                            std::string_view target = {},
                            std::string instead = "Run it on this machine with '-t local'.")
{
    using Served = model::TargetTraits::Served;
    const auto& traits = model::traits_of(type);
    if (traits.served == Served::yes) return exit_code::success;
    const char* why = traits.served == Served::never ? "belong to a service that was switched off"
                                                     : "are not supported by this version";
    return tl::unexpected(Failure(
        Error(ErrorKind::unavailable,
              fmt::format("{}targets of type '{}' {}",
                          target.empty() ? "" : fmt::format("target '{}': ", printable(target)),
                          traits.name(),
                          why),
              std::move(instead)),
        exit_code::not_built));
}

inline Outcome require_runs(const config::ComputeTarget& target)
{
    return require_runs(target.type.value, target.name);
}

}  // namespace ponk::cli
