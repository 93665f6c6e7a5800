// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/syntax/command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::cli {

// What was probably meant, as a hint; empty when nothing is near.

// For the words of a command that is not there. Knows the grammar of early 2017.
std::string suggest_command(const std::vector<std::string>& words);
// For an option that `command` has not. `word` as typed: "--asynk".
std::string suggest_option(const Command& command, std::string_view word);
// For a name that is none of `names`; `otherwise` when nothing is near.
std::string suggest_name(std::string_view word,
                         const std::vector<std::string>& names,
                         std::string_view otherwise);

}  // namespace ponk::cli
