// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/exit_record.hpp"
#include "model/run_spec.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::engine {

// What a script left running is ended with it, which nobody should have to guess. Empty: nothing.
std::string survivors_text(const model::ExitRecord& exit);

// Advice for a run that failed because it waited for a user: `input()` and `breakpoint()` read
// standard input, which is empty in a run. `log` and `trees` as for `advise_on_missing_files`.
std::optional<std::string> advise_on_empty_input(std::string_view log,
                                                 const std::vector<os::Path>& trees,
                                                 const model::RunSpec& spec);

}  // namespace ponk::engine
