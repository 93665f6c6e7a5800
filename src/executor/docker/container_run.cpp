// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/container_run.hpp"

#include "base/text.hpp"
#include "dockerapi/container.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_files.hpp"
#include "os/identity.hpp"

namespace ponk::executor::docker {

using namespace std::chrono_literals;

namespace {

JobStatus lost(JobStatus status, std::string reason)
{
    status.phase = JobPhase::lost;
    status.reason = std::move(reason);
    return status;
}

// How a container ended that left no record.
std::string evidence(const dockerapi::Container& container, const std::string& log)
{
    auto text =
        fmt::format("its container exited with code {} without a record", container.exit_code);
    if (container.oom_killed) text += "; the kernel killed one of its processes: out of memory";
    if (container.exit_code == 137 && !container.oom_killed)
        text += "; it was killed, by hand or by a restart of the engine";
    if (container.exit_code == 255) text += "; the machine may have been restarted";
    if (!container.error.empty()) text += "; the engine says: " + printable(container.error);
    if (const auto said = trim(log); !said.empty()) text += "; its output: " + printable(said);
    return text;
}

}  // namespace

Result<JobStatus> ContainerRun::look(std::stop_token stop) const
{
    JobStatus status;
    read_lengths(directory_, status);
    if (TRY(read_exit(files_, directory_, status))) return status;
    const auto processes = TRY(read_processes(files_, directory_));
    status.phase = processes ? JobPhase::running : JobPhase::starting;
    if (processes) {
        status.started = processes->started;
        if (processes->main.boot_id != os::boot_id())
            return lost(std::move(status), "the host was rebooted while the script ran");
    }
    if (is_locked(directory_)) return status;
    return ask_engine(std::move(status), std::move(stop));
}

JobStatus ContainerRun::ask_engine(JobStatus status, std::stop_token stop) const
{
    const auto unknown = [&status](const Error& error) {
        auto other = status;
        other.phase = JobPhase::unknown;
        other.reason = error.message();
        return other;
    };
    const auto note = notes_.find(container_);
    if (!note) return unknown(note.error());
    if (!*note) return status;  // never given to an engine
    const auto asking = while_doing("contact the engine at {}", os::in_quotes((*note)->socket));
    const auto engine = dockerapi::Engine::connect((*note)->socket, after(20s), stop);
    if (!engine) return unknown(asking(engine.error()));
    const auto container = find_container(*engine, container_, after(20s), stop);
    if (!container) return unknown(asking(container.error()));
    // The lock was free before we asked, so a record would be there by now.
    auto late = status;
    if (const auto found = read_exit(files_, directory_, late); found && *found) return late;
    if (!*container) {
        // Without a trace of its processes it is not known to have begun, unless we began it.
        if (status.phase == JobPhase::starting && (*note)->stage == ContainerNote::Stage::given)
            return status;
        return lost(std::move(status), "its container was removed while the script ran");
    }
    const auto& state = **container;
    if (!state.is_over()) return status;
    const auto log = tail_of_log(*engine, container_, after(20s), stop);
    return lost(std::move(status), evidence(state, log.value_or("")));
}

}  // namespace ponk::executor::docker
