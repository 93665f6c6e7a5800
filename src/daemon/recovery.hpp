// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.hpp"
#include "engine/context.hpp"

#include <vector>

// After a lost or damaged database: history from the run directories.
namespace ponk::daemon {

// True when a daemon was killed in the middle of an import.
Result<bool> import_is_unfinished(const store::History& history);

// Records again every run whose folder is there and that history does not know, with the state that
// the folder tells. Returns those that have ended: nobody follows them, so their metrics must be
// asked for. A run that is still going is followed to its end by the engine.
Result<std::vector<RunId>> import_run_directories(const engine::Context& context);

// Reads the metrics of `runs` (sorted by age) until the deadline; returns those that are left.
std::vector<RunId>
import_metrics(const engine::Context& context, std::vector<RunId> runs, Deadline deadline);

}  // namespace ponk::daemon
