// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/compute.hpp"
#include "config/files/run_configuration.hpp"
#include "os/file.hpp"

#include <string_view>

// The files that `computetarget attach` and `runconfiguration create` leave in a project.
namespace ponk::config {

// Names become file names and words on command lines: letters, digits, "_", "-" and inner ".", 64
// at most. `what` is "target" or "run configuration".
Result<> check_name(std::string_view what, std::string_view name);

// Fails when `name`, a folder of the project, is a link to one outside: what is written or removed
// there would be somebody else's. One that is not there is no failure.
Result<> require_own_folder(const os::Path& project, std::string_view name);

// A run configuration as the commands make it: the flat schema of 2017 with right defaults, that is
// Framework Python and an environment prepared when needed.
RunConfiguration new_run_configuration(std::string name, std::string target);

// Writes aml_config/<name>.compute; fails with `conflict` when it is there already. Returns the
// path.
Result<os::Path> write_compute_file(const os::Path& project, const ComputeTarget& target);
// Writes aml_config/<name>.runconfig in the flat schema; fails with `conflict` likewise.
Result<os::Path> write_runconfig_file(const os::Path& project,
                                      const RunConfiguration& configuration);

}  // namespace ponk::config
