// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"

// Commands about a target or a run configuration take its name as a word or, as in 2017, with -n.
namespace ponk::cli::named {

inline constexpr Option target_option = {.name = "name",
                                         .brief = "n",
                                         .value = "NAME",
                                         .help = "Same as NAME.",
                                         .complete = Complete::target};
inline constexpr Positional target = {.name = "NAME",
                                      .help = "Name of the target.",
                                      .count = Positional::Count::optional,
                                      .complete = Complete::target};
inline constexpr Option configuration_option = {.name = "name",
                                                .brief = "n",
                                                .value = "NAME",
                                                .help = "Same as NAME.",
                                                .complete = Complete::configuration};
inline constexpr Positional configuration = {.name = "NAME",
                                             .help = "Name of the run configuration.",
                                             .count = Positional::Count::optional,
                                             .complete = Complete::configuration};

inline tl::expected<std::string, Failure> name_of(const Invocation& words)
{
    const auto name = words.word(0) ? words.word(0) : words.value("name");
    if (!name) return fail_usage("'{}' needs a name", words.path);
    if (words.has("name") && words.text("name") != *name) {
        return fail_usage("two names are given: '{}' and '{}'", *name, words.text("name"));
    }
    return *name;
}

}  // namespace ponk::cli::named
