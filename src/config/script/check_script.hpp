// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/script/known_packages.hpp"
#include "config/script/script_files.hpp"
#include "config/text/diagnostic.hpp"

namespace ponk::config {

// What a script needs and will not find: modules that are neither the project's nor among the known
// packages, and names that later versions of their packages do not have.
Diagnostics check_script(const ScriptFiles& script, const KnownPackages& packages);

}  // namespace ponk::config
