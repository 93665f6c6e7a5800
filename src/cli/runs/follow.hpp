// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"
#include "cli/terminal/terminal_input.hpp"

#include <string>

namespace ponk::cli {

// Stays with a run until it has ended: its log on standard output (with -o json on standard error,
// and the final record on standard output), everything of ours on standard error. Ctrl-C detaches,
// a second one within two seconds cancels. Returns the script's exit code. `input`, if given, is
// started, and goes to the script until it ends or we leave.
Outcome follow_run(Context& context, const std::string& run_id, TerminalInput* input = nullptr);

// The last line of a command that leaves a run behind.
void say_detached(const Context& context, const std::string& run_id);
// Stays with a preparation until it has ended and returns its record; progress on standard error.
// Ctrl-C cancels it.
tl::expected<Json, Failure> follow_preparation(Context& context, const std::string& run_id);

// The code that a run which has ended leaves us with, and the line that explains it.
struct RunEnd {
    int code = 0;
    std::optional<Error> error;  // ponk's, not the script's
};
RunEnd end_of(const Json& run);

// "ponk: run … Completed in 5.1 s", metrics, what next: on standard error.
void report_end(const Context& context, const Json& run);

}  // namespace ponk::cli
