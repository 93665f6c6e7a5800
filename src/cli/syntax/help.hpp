// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/syntax/parse.hpp"

#include <string>

namespace ponk::cli {

// Help on the command, the group or, when neither is named, all of ponk.
std::string help_text(const Invocation& words, int width);
// The same as standard output can show it: in the terminal's width (80 in a pipe, never more than
// 100), in ASCII where the locale has nothing else.
std::string help_for_terminal(const Invocation& words);

// "ponk experiment submit [options] [SCRIPT [ARGUMENTS…]]"
std::string usage_line(const Command& command);
// "-c, --run-configuration NAME"
std::string option_label(const Option& option);

}  // namespace ponk::cli
