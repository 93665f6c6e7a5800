// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/files/run_configuration.hpp"
#include "engine/plan/resolve_run.hpp"

#include <string>
#include <vector>

namespace ponk::engine {

// The words that spark-submit gets before the script, from spark_dependencies.yml (or the file that
// the request names) or from the run configuration itself. A default file that is not there means
// no options; a file that was named and is not there is an error. Packages that are gone are left
// out when nothing in the script imports them, and replaced when the request says so: notices tell.
Result<std::vector<std::string>> spark_options(const RunRequest& request,
                                               const config::RunConfiguration& configuration,
                                               ResolvedRun& run);

}  // namespace ponk::engine
