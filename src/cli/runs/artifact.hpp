// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/daemon.hpp"

#include <string>

namespace ponk::cli {

enum class Overwrite { no, yes };

// "/runs/ID/artifacts/outputs/a%20b.txt"
std::string artifact_path(const std::string& run_id, std::string_view artifact);

// The artifact's path, which is refused when it would lead out of a folder.
Result<os::Path> safe_relative(const std::string& artifact);

// Downloads one artifact to `folder`/`name`, folders made as needed: complete or not at all.
// `conflict` when something is there and may not be overwritten, or when a link is on the way:
// nothing below `folder` is written through one.
Result<os::Path> download_artifact(Daemon& daemon,
                                   const std::string& run_id,
                                   const std::string& artifact,
                                   const os::Path& folder,
                                   const os::Path& name,
                                   Overwrite overwrite);
// The same for a link among the outputs, which the daemon has found to stay among them.
Result<os::Path> make_artifact_link(const std::string& target,
                                    const os::Path& folder,
                                    const os::Path& name,
                                    Overwrite overwrite);

}  // namespace ponk::cli
