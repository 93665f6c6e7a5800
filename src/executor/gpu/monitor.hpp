// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "executor/job/job.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "executor/supervisor/stub_start.hpp"

#include <optional>
#include <string>
#include <vector>

// `ponk-gpu-monitor`, the process beside a run that has GPUs: it waits for them, starts the run,
// watches it and judges. It gets its task from a file of the run directory and reports its progress
// in another one. docs/design/gpu.md, "The GPU monitor".
namespace ponk::executor {

namespace control {
constexpr const char* monitor = "monitor";            // its input
constexpr const char* monitor_lock = "monitor.lock";  // held while it lives
constexpr const char* gpu = "gpu";                    // its report, sealed
}  // namespace control

// Its input. Nothing in it is secret.
struct MonitorJob {
    std::string run;
    std::string script;  // relative to the tree
    GpuRequest request;
    Path lib;  // where programs of ours are installed
    // The script's own choice of devices by a variable of the configuration: left as it is.
    bool devices_are_chosen = false;
    // A scheduler has given the run its devices, and waits for this process to end: nothing is
    // leased, and the variables by which it named them stay.
    bool is_given_devices = false;
    Path stub;  // of a run without a container
    // Of a run in a container: the engine's socket, and the container but for its GPUs.
    Path engine;
    Json container;
    bool tree_is_copied = false;
};

std::string to_text(const MonitorJob& job);
Result<MonitorJob> parse_monitor_job(std::string_view text);

// A machine without any sign of a GPU is told apart at the price of a few stat() calls: there runs
// that nobody asked GPUs for are started as ever.
bool needs_monitor(const Job& job);

// The configuration sets a variable by which frameworks choose devices.
bool chooses_devices(const Job& job);

// Writes the job and starts the process. Returns once it waits in the queue or the run is started;
// its refusal is an error (GPUs that are not there, or busy when the run is not to wait).
struct MonitorStart {
    const MonitorJob& job;
    const RunDirectory& directory;
    const std::string& environment;  // key, and the script's environment
    const std::vector<std::string>& submitter_environment;
    int lease = -1;  // kept open while it waits, and handed to the supervisor
};
Result<> start_monitor(const MonitorStart& start, const Adopt& adopt, std::stop_token stop);

bool is_monitor_alive(const Path& directory);

// The variables of the process, from those of the submitter: what concerns finding GPUs.
std::vector<std::string> monitor_environment(const std::vector<std::string>& submitter_environment);

// What a node of a cluster executes as `PROGRAM ponk-gpu-monitor DIRECTORY …`: this very program,
// below `home`, which nodes can see. Copied there where it is not.
Result<Path> monitor_program(const Path& home);

// The file `gpu`.
std::string gpu_state_text(const Json& state);
Result<std::optional<Json>> read_gpu_state(const SealedFiles& files);

// Sets the state of the GPUs that such a process reports. The end is held back for a moment until
// the verdict is there; `age` is how long ago the run ended.
void add_verdict(const std::optional<Json>& state,
                 std::chrono::milliseconds age,
                 JobStatus& status);

// Adds to what the run's own files say what its GPU monitor says: that it waits, and the state of
// its GPUs.
Result<>
add_monitor_state(const SealedFiles& files, const RunDirectory& directory, JobStatus& status);

}  // namespace ponk::executor
