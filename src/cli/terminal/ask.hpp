// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>

namespace ponk::cli {

// Asks yes or no on the terminal. Without one, or on "no", a failure that says what was not done.
Result<> confirm(std::string_view question);

// Whether there is somebody to ask.
bool has_terminal();
// A line typed on the terminal; `invalid_argument` without one.
Result<std::string> ask_line(std::string_view prompt);

// A secret typed without echo, asked for on the terminal; else one line or more from standard input
// (a single newline at its end is not part of it).
Result<std::string> read_secret(std::string_view prompt);

}  // namespace ponk::cli
