// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/syntax/command.hpp"
#include "net/target.hpp"

#include <optional>
#include <string>

namespace ponk::cli {

// "?machine=…" for calls about an environment; empty when none is named.
inline std::string machine_parameter(const std::optional<std::string>& machine)
{
    return machine ? "?machine=" + net::percent_encode(*machine) : std::string();
}

}  // namespace ponk::cli

// Options and words that many commands share.
namespace ponk::cli::common {

inline constexpr Positional run = {
    .name = "RUN",
    .help = "Run id, the start or end of one (4 digits or more), its number in the project, "
            "its name, or 'last'.",
    .count = Positional::Count::optional,
    .complete = Complete::run};

inline constexpr Positional one_run = {
    .name = run.name, .help = run.help, .count = Positional::Count::one, .complete = Complete::run};

// The predecessor named the run by an option and wanted the target as well.
inline constexpr Option run_option = {
    .name = "run", .brief = "r", .value = "RUN", .help = "Same as RUN.", .complete = Complete::run};
inline constexpr Option ignored_target = {.name = "target",
                                          .brief = "t",
                                          .value = "NAME",
                                          .help = "Ignored: the run id is enough.",
                                          .complete = Complete::target,
                                          .shown = Option::Shown::no};

inline constexpr Positional environment = {.name = "ENVIRONMENT",
                                           .help = "The environment's id, or the beginning of it.",
                                           .complete = Complete::environment};
inline constexpr Option machine = {.name = "machine",
                                   .value = "ADDRESS",
                                   .help =
                                       "The machine that has the environment, if several machines "
                                       "have one with this id; 'here' is this machine."};

inline constexpr std::string_view sync_words[] = {"full", "normal"};
inline constexpr Option sync = {
    .name = "sync",
    .value = "MODE",
    .help = "full: every confirmed change is on the disk. normal: faster; after a power cut the "
            "last moments may be missing, but nothing is damaged. Default: PONK_SYNC, else full.",
    .complete = Complete::choice,
    .choices = sync_words};

inline constexpr Option yes = {.name = "yes", .brief = "y", .help = "Do not ask for confirmation."};
// Of commands that never ask, so that a script can give it to all that remove something.
inline constexpr Option needless_yes = {.name = yes.name,
                                        .brief = yes.brief,
                                        .help = "Not needed: this command does not ask.",
                                        .shown = Option::Shown::no};

}  // namespace ponk::cli::common
