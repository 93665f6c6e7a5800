// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/resolve_run.hpp"

#include <string_view>

namespace ponk::engine {

// What a Python file imports and uses, by its words: texts and comments do not count.
struct ScriptNames {
    bool imports_pyspark = false;
    // Of "os" and "sys", those that are used and that nothing in the file imports or sets.
    std::vector<std::string> missing;
};
ScriptNames names_of_script(std::string_view text);

// The same of the run's script; nothing where the run executes something else than a Python file.
Result<std::optional<ScriptNames>> names_of_script(const ResolvedRun& run);

// Projects of 2017 were executed inside of a program that had imported both modules: a script with
// missing names gets them, and a notice says so.
Result<> give_names(ResolvedRun& run);

}  // namespace ponk::engine
