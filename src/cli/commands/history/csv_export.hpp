// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/daemon.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace ponk::cli {

// Calls its argument for each run to export; may be asked twice.
using EachRun = std::function<Result<>(const std::function<Result<>(const Json& run)>&)>;
using Write = std::function<Result<>(std::string_view text)>;

// A heading, then one line for each run: its fields, params.NAME, tags.NAME, metrics.NAME (the
// latest value). The runs are gone through twice, first for the names; never more than one is held.
struct CsvReport {
    std::size_t runs = 0;
    std::size_t left_out = 0;  // values of names that appeared in between, or beyond a list's limit
};
Result<CsvReport> export_runs_csv(const EachRun& runs, const Write& write);

// run_id,key,step,time,value: one line for each point of the run.
std::string points_csv_heading();
Result<> export_points_csv(Daemon& daemon, const std::string& run_id, const Write& write);

}  // namespace ponk::cli
