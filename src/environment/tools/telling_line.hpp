// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>

// What matters in the end of an installer's output.
namespace ponk::environment {

// The part that says why it failed, on one line: of pip its last "ERROR:", of a solver which
// packages do not go together, else the last line. Empty for an output without words.
std::string telling_line(std::string_view output);

// `invalid_argument` where the list of packages asks for what cannot be had, else `unavailable`.
ErrorKind kind_of_failure(std::string_view output);

}  // namespace ponk::environment
