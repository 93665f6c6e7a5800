// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "engine/plan/resolve_run.hpp"
#include "executor/job/environment_report.hpp"
#include "model/run.hpp"
#include "os/file.hpp"

#include <string>

// The environment that a run had, kept with the run: its description in history, its lock as a file
// of the run directory, so that both outlive the cache (docs/design/environments.md).
namespace ponk::engine {

// Writes the lock and returns what history keeps.
Result<Json> keep_environment(const os::Path& directory, const executor::EnvironmentUsed& used);

// The text of the lock that the run had; the digest in history decides whether it is that.
// `not_found` when the run has none, `damaged` when it is another.
Result<std::string> read_kept_lock(const os::Path& directory, const model::Run& run);

// Before a rerun: it asks for the environment and the image that the earlier run had; the
// lock goes into its directory.
Result<> pin_environment(const os::Path& earlier_directory,
                         const model::Run& earlier,
                         const os::Path& directory,
                         RunSpec& spec);
// How packages that ponk did not install differ from those that a rerun expects; empty: they do
// not, or nothing is expected.
std::string changed_packages(const os::Path& directory,
                             const RunSpec& spec,
                             const executor::EnvironmentUsed& used);
// The lock that `pin_environment` wrote.
Result<std::string> read_wanted_lock(const os::Path& directory, const std::string& digest);

}  // namespace ponk::engine
