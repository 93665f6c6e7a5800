// SPDX-License-Identifier: Apache-2.0
#pragma once

// ponk-gpu-monitor DIRECTORY ENVIRONMENT REPORT [LEASE]: the process beside a run that has GPUs, a
// role of the programs `ponk` and `ponk-agent`, which take it when they are started under that
// name, or with it as their first word. The last ones are descriptor numbers, as for the
// supervisor: where the run's key and environment come from, where "queued", "started", "claimed"
// or an error is written to, and what stays open until the run has it.
namespace ponk::gpu_monitor {

// True when the program was started in this role.
bool is_wanted(int argc, const char* const* argv);
int main(int argc, char** argv);

}  // namespace ponk::gpu_monitor
