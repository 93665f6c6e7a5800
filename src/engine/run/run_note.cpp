// SPDX-License-Identifier: Apache-2.0
#include "engine/run/run_note.hpp"

#include "engine/plan/resolve_run.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "model/exit_record.hpp"
#include "model/run_fields.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::engine {

using model::Run;
using model::RunState;
namespace control = executor::control;

namespace {

constexpr const char* first_note = "record.json";
constexpr const char* last_note = "end.json";
constexpr std::uint64_t note_limit = std::uint64_t{64} << 20;

Result<> write_note(const os::Path& file, const Run& run)
{
    const Json note = model::write_run(run, model::RunForm::note);
    return os::replace_file(file, to_json(note) + "\n", 0600, os::Durable::no);
}

std::optional<Run> parse_note(const os::Path& file)
{
    const auto text = os::read_file(file, note_limit);
    if (!text) return std::nullopt;
    const auto note = parse_json(*text);
    if (!note) return std::nullopt;
    const auto spec = model::parse_run_spec((*note)["configuration"]);
    Run run;
    run.state = RunState::starting;
    // A field that cannot be read keeps its default: the rest of the run is worth having.
    static_cast<void>(model::read_run(*note, model::RunForm::note, run));
    if (run.id == RunId() || !spec || run.project.empty()) return std::nullopt;
    if (!(*note)["hidden"].is_bool()) run.hidden = !spec->policy.tracked;
    apply_spec(*spec, run);
    return run;
}

// How far a run came that had not ended when the note was written.
void read_state(const os::Path& directory, Run& run)
{
    const auto task = executor::RunDirectory(directory).task();
    run.state = RunState::starting;
    if (const auto text = os::read_file(task / control::exit, 1 << 20)) {
        const auto exit = model::parse_exit_record(*text);
        if (!exit) return;
        run.state = RunState::finalizing;
        run.started = exit->started;
        run.timings["run"] = exit->duration_ms;
    } else if (const auto pid = os::read_file(task / control::pid, 1 << 20)) {
        const auto processes = executor::parse_processes(*pid);
        if (!processes) return;
        run.state = RunState::running;
        run.started = processes->started;
    }
}

}  // namespace

Result<> write_first_note(const os::Path& directory, const Run& run)
{
    return write_note(directory / first_note, run);
}

Result<> keep_first_note(const os::Path& directory)
{
    const auto file = TRY(os::open_regular(directory / first_note, os::Links::refuse));
    if (::fsync(file.get()) != 0) return fail_errno(errno, "flush '{}'", first_note);
    return os::sync_directory(directory);
}

Result<> write_last_note(const os::Path& directory, const Run& run)
{
    return write_note(directory / last_note, run);
}

std::optional<Run> read_note(const os::Path& directory)
{
    auto run = parse_note(directory / last_note);
    if (run && model::is_terminal(run->state)) return run;
    run = parse_note(directory / first_note);
    if (run) read_state(directory, *run);
    return run;
}

}  // namespace ponk::engine
