// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/files/run_configuration.hpp"
#include "os/file.hpp"

#include <string>
#include <vector>

namespace ponk::engine {

// The words that spark-submit gets before the script, from spark_dependencies.yml (or the file
// named by `override_file`) or from the run configuration itself. A default file that is not there
// means no options; a file that was named and is not there is an error.
Result<std::vector<std::string>> spark_options(const os::Path& project,
                                               const config::RunConfiguration& configuration,
                                               const std::string& override_file);

}  // namespace ponk::engine
