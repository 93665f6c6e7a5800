// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/context.hpp"

#include <string>
#include <vector>

namespace ponk::cli {

// The last eight digits of a run id: what tables show.
std::string brief_id(const Json& run);

// Runs as table rows: short id, status, script, times, and a column for each metric (scalars that
// one of them has, in order of first sight).
View view_of_runs(const JsonArray& runs);
// One run as rows of name and value.
View view_of_run(const Json& run);

// Metrics for people: of a list its last value and how many there are.
Json brief_metrics(const Json& metrics);

// GET /runs, page by page, until `limit` runs (0: all) are there. `filters` starts with '&'.
Result<JsonArray> fetch_runs(Daemon& daemon, const std::string& filters, std::size_t limit);

}  // namespace ponk::cli
