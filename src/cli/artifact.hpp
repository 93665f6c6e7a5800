// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/daemon.hpp"

#include <string>

namespace ponk::cli {

enum class Overwrite { no, yes };

// "/runs/ID/artifacts/outputs/a%20b.txt"
std::string artifact_path(const std::string& run_id, std::string_view artifact);

// Downloads one artifact to `folder`/its path: complete or not at all. `conflict` when the file is
// there and may not be overwritten. A path that would leave the folder is refused.
Result<os::Path> download_artifact(Daemon& daemon,
                                   const std::string& run_id,
                                   const std::string& artifact,
                                   const os::Path& folder,
                                   Overwrite overwrite);
// The same for a link among the outputs, which the daemon has found to stay among them.
Result<os::Path> make_artifact_link(const std::string& artifact,
                                    const std::string& target,
                                    const os::Path& folder,
                                    Overwrite overwrite);

}  // namespace ponk::cli
