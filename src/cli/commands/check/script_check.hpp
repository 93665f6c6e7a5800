// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"
#include "config/text/diagnostic.hpp"

#include <string>

namespace ponk::cli {

// A Python script or a notebook, by its name.
bool is_script_name(const std::string& file);

// What the script needs and will not find. Nothing of the project is executed; the user's Python is
// asked where its packages are, when the project names none.
Result<config::Diagnostics> check_script(Context& context, const std::string& file);

}  // namespace ponk::cli
