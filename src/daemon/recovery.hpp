// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.hpp"
#include "engine/context/context.hpp"

#include <vector>

// After a lost or damaged database: history from the run directories.
namespace ponk::daemon {

// True when a daemon was killed in the middle of an import.
Result<bool> import_is_unfinished(const store::History& history);

// Records again every run whose folder is there and that history does not know, with the state that
// the folder tells. Returns those that have ended: nobody follows them, so their metrics must be
// asked for. A run that is still going is followed to its end by the engine.
Result<std::vector<RunId>> import_run_directories(const engine::Context& context);

// Ended runs whose metrics are not in history yet.
struct MetricsToRead {
    std::vector<RunId> runs;  // sorted by age
    // Their secrets cannot be read now (a keyring is locked, say), or their journals: later.
    std::vector<RunId> put_off = {};
};

// Reads the metrics of `left.runs` until the deadline; returns what is left. Once nothing is, the
// import counts as finished.
MetricsToRead import_metrics(const engine::Context& context, MetricsToRead left, Deadline deadline);

}  // namespace ponk::daemon
