// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/compute.hpp"
#include "config/run_configuration.hpp"
#include "os/file.hpp"

namespace ponk::config {

// Letters, digits, "_", "-" and "." (not first), at most 64: a name that is safe as a file name.
Result<> check_name(std::string_view what, std::string_view name);

// Writes aml_config/<name>.compute, as `computetarget attach` does. Fails with `conflict` when the
// file is there already. Returns its path.
Result<os::Path> write_compute_file(const os::Path& project, const ComputeTarget& target);
// Writes aml_config/<name>.runconfig in the flat schema of 2017.
Result<os::Path> write_runconfig_file(const os::Path& project,
                                      const RunConfiguration& configuration);

}  // namespace ponk::config
