// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "output/terminal.hpp"

#include <string>

// What people see of a run's GPUs. All texts come from other processes: they are made printable by
// whoever shows them.
namespace ponk::cli {

bool wants_gpus(const Json& run);
// For a column: the verdict, or how far it is: "queued (2)", "leased".
std::string brief_gpu(const Json& run);
// "confirmed: processes of the run held …"
std::string gpu_sentence(const Json& run);
// A row for the verdict, for each device and for what lies behind it.
void add_gpu_rows(const Json& run, JsonObject& rows);

// The metrics of a run without those that ponk measures itself, and these.
Json script_metrics(const Json& metrics);
Json system_metrics(const Json& metrics);

// Curves of all that was measured of GPUs, one chart for each kind, a curve for each GPU.
// `metrics` is that of GET /runs/RUN/metrics.
std::string gpu_charts(const Json& metrics, const output::Terminal& terminal);
// The same of the processor and the memory that the run used.
std::string use_charts(const Json& metrics, const output::Terminal& terminal);
// True for a metric that has its place in one of these charts.
bool is_charted(std::string_view name);

}  // namespace ponk::cli
