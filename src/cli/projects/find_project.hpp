// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"

#include <string>

namespace ponk::cli {

// The one project of history that goes by this id, path or name.
Result<Json> find_project(Context& context, const std::string& wanted);

}  // namespace ponk::cli
