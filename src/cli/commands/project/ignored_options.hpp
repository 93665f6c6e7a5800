// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"

// Where a project of 2017 lived in the cloud: accepted, so that commands copied from documents
// work, and reported as having no effect.
namespace ponk::cli::ignored {

inline constexpr Option workspace = {.name = "workspace",
                                     .brief = "w",
                                     .value = "W",
                                     .help = "Ignored.",
                                     .shown = Option::Shown::no};
inline constexpr Option account = {
    .name = "account", .brief = "a", .value = "A", .help = "Ignored.", .shown = Option::Shown::no};
inline constexpr Option resource_group = {.name = "resource-group",
                                          .brief = "g",
                                          .value = "G",
                                          .help = "Ignored.",
                                          .shown = Option::Shown::no};
inline constexpr Option location = {
    .name = "location", .brief = "l", .value = "L", .help = "Ignored.", .shown = Option::Shown::no};

inline void note(const Context& context, const Invocation& words)
{
    for (const Option& option : {workspace, account, resource_group, location}) {
        if (words.has(option.name))
            context.note("'--{}' is no longer needed and is ignored", option.name);
    }
}

}  // namespace ponk::cli::ignored
