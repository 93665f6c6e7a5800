// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/container_run.hpp"

#include "base/text.hpp"
#include "dockerapi/container.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/identity.hpp"

namespace ponk::executor::docker {

using namespace std::chrono_literals;

namespace {

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

std::function<Error(const Error&)> not_asked(const Path& socket)
{
    return [asking = while_doing("contact the engine at {}", os::in_quotes(socket))](
               const Error& error) {
        const bool answered = error.kind() == ErrorKind::not_found ||
                              error.kind() == ErrorKind::conflict ||
                              error.kind() == ErrorKind::cancelled;
        return answered ? asking(error) : asking(error).of_kind(ErrorKind::unreachable);
    };
}

Result<JobStatus> ContainerRun::look(std::stop_token stop) const
{
    auto said = TRY(read_report(files_, directory_));
    if (said.exit) return status_of(said, {});
    const auto processes = TRY(read_processes(files_, directory_));
    const auto living = TRY(liveness(processes, stop));
    if (living.state == Liveness::State::gone) said = TRY(read_report(files_, directory_));
    if (!said.exit && processes) said.started = processes->started;
    return status_of(said, living);
}

// As the kernel tells it, and the engine where nobody holds the lock.
Result<Liveness> ContainerRun::liveness(const std::optional<RunProcesses>& processes,
                                        const std::stop_token& stop) const
{
    if (processes && processes->main.boot_id != os::boot_id())
        return Liveness::gone("the host was rebooted while the script ran");
    if (is_locked(directory_.task())) return Liveness();
    const auto note = TRY(notes_.find(container_).map_error([](const Error& error) {
        return error.of_kind(ErrorKind::unreachable);
    }));
    if (!note) return Liveness();  // never given to an engine
    return ask_engine(*note, processes, stop).map_error(not_asked(note->socket));
}

Result<Liveness> ContainerRun::ask_engine(const ContainerNote& note,
                                          const std::optional<RunProcesses>& processes,
                                          const std::stop_token& stop) const
{
    const auto engine = TRY(dockerapi::Engine::connect(note.socket, after(20s), stop));
    const auto container = TRY(find_container(engine, container_, after(20s), stop));
    if (!container) {
        // Without a trace of its processes it is not known to have begun, unless we began it.
        if (!processes && note.stage == ContainerNote::Stage::given) return Liveness();
        return Liveness::gone("its container was removed while the script ran");
    }
    if (!container->is_over()) return Liveness();
    const auto log = tail_of_log(engine, container_, 50, after(20s), stop);
    return Liveness::gone(evidence(*container, log.value_or("")));
}

}  // namespace ponk::executor::docker
