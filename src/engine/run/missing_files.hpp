// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/run_spec.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::engine {

// Advice for a run that failed on a file which exists in the project but did not travel: the rule,
// and the option that gives it to the run. `log` is the end of its log, `trees` where its copy of
// the project was, here and in its container.
std::optional<std::string> advise_on_missing_files(std::string_view log,
                                                   const os::Path& project,
                                                   const std::vector<os::Path>& trees,
                                                   const model::RunSpec& spec);

}  // namespace ponk::engine
