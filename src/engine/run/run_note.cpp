// SPDX-License-Identifier: Apache-2.0
#include "engine/run/run_note.hpp"

#include "engine/plan/resolve_run.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "model/exit_record.hpp"

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

Json error_json(const std::optional<Error>& error)
{
    if (!error) return {};
    return JsonObject{
        {"kind", to_string(error->kind())}, {"message", error->message()}, {"hint", error->hint()}};
}

Json note_of(const Run& run)
{
    JsonObject timings;
    for (const auto& [phase, span] : run.timings)
        timings.set(phase, span);
    JsonObject tags;
    for (const auto& [key, value] : run.tags)
        tags.set(key, value);
    return JsonObject{{"run_id", run.id.text()},
                      {"run_number", run.number},
                      {"project", run.project},
                      {"project_path", run.project_path},
                      {"name", run.name},
                      {"user", run.user},
                      {"host", run.host},
                      {"state", model::to_string(run.state)},
                      {"exit_code", run.exit_code ? Json(*run.exit_code) : Json()},
                      {"error", error_json(run.error)},
                      {"created", run.created},
                      {"started", run.started},
                      {"ended", run.ended},
                      {"snapshot", run.snapshot},
                      {"outputs", run.outputs},
                      {"rerun_of", run.rerun_of},
                      {"hidden", run.hidden},
                      {"job", run.job},
                      {"timings", std::move(timings)},
                      {"tags", std::move(tags)},
                      {"git", run.git},
                      {"environment", run.environment},
                      {"evidence", run.evidence},
                      {"gpu", run.gpu},
                      {"warnings", JsonArray(run.warnings.begin(), run.warnings.end())},
                      {"configuration", run.configuration}};
}

void read_lists(const Json& note, Run& run)
{
    if (note["timings"].is_object()) {
        for (const auto& [phase, span] : note["timings"].as_object()) {
            if (span.is_integer()) run.timings[phase] = span.as_integer();
        }
    }
    if (note["tags"].is_object()) {
        for (const auto& [key, value] : note["tags"].as_object()) {
            if (value.is_string()) run.tags.emplace_back(key, value.as_string());
        }
    }
    if (note["warnings"].is_array()) {
        for (const auto& warning : note["warnings"].as_array()) {
            if (warning.is_string()) run.warnings.push_back(warning.as_string());
        }
    }
}

std::optional<Run> parse_note(const os::Path& file)
{
    const auto text = os::read_file(file, note_limit);
    if (!text) return std::nullopt;
    const auto note = parse_json(*text);
    if (!note) return std::nullopt;
    const auto id = RunId::parse(note->text("run_id"));
    const auto spec = model::parse_run_spec((*note)["configuration"]);
    if (!id || !spec || note->text("project").empty()) return std::nullopt;
    Run run;
    run.id = *id;
    run.number = note->integer("run_number");
    run.project = note->text("project");
    run.project_path = note->text("project_path");
    run.name = note->text("name");
    run.user = note->text("user");
    run.host = note->text("host");
    run.state = model::parse_run_state(note->text("state")).value_or(RunState::starting);
    if ((*note)["exit_code"].is_integer())
        run.exit_code = static_cast<int>(note->integer("exit_code"));
    if (const auto& error = (*note)["error"]; error.is_object())
        run.error =
            Error(error_kind_from(error.text("kind")), error.text("message"), error.text("hint"));
    run.created = note->integer("created");
    run.started = note->integer("started");
    run.ended = note->integer("ended");
    run.snapshot = note->text("snapshot");
    run.outputs = note->text("outputs");
    run.rerun_of = note->text("rerun_of");
    run.hidden = note->boolean("hidden", !spec->policy.tracked);
    run.job = note->text("job");
    run.git = (*note)["git"];
    run.evidence = (*note)["evidence"];
    run.environment = (*note)["environment"];
    run.gpu = (*note)["gpu"];
    run.configuration = (*note)["configuration"];
    apply_spec(*spec, run);
    read_lists(*note, run);
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
    return os::replace_file(
        directory / first_note, to_json(note_of(run)) + "\n", 0600, os::Durable::no);
}

Result<> keep_first_note(const os::Path& directory)
{
    const auto file = TRY(os::open_regular(directory / first_note, os::Links::refuse));
    if (::fsync(file.get()) != 0) return fail_errno(errno, "flush '{}'", first_note);
    return os::sync_directory(directory);
}

Result<> write_last_note(const os::Path& directory, const Run& run)
{
    return os::replace_file(
        directory / last_note, to_json(note_of(run)) + "\n", 0600, os::Durable::no);
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
