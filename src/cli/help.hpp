// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/parse.hpp"

#include <string>

namespace ponk::cli {

// Columns that help may use: the terminal's, 80 in a pipe, never more than 100.
int help_width();

// Help on the command, the group or, when neither is named, all of ponk.
std::string help_text(const Invocation& words, int width);

// "ponk experiment submit [options] [SCRIPT [ARGUMENTS…]]"
std::string usage_line(const Command& command);
// "-c, --run-configuration NAME"
std::string option_label(const Option& option);

}  // namespace ponk::cli
