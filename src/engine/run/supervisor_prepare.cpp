// SPDX-License-Identifier: Apache-2.0
// Before the launch: snapshot and working copy.
#include "base/advice.hpp"
#include "base/text.hpp"
#include "engine/plan/inputs.hpp"
#include "engine/run/list_input.hpp"
#include "engine/run/preparation_part.hpp"
#include "engine/run/run_environment.hpp"
#include "engine/run/run_note.hpp"
#include "engine/run/store_project.hpp"
#include "engine/run/supervisor.hpp"
#include "executor/remote/link/host_advice.hpp"
#include "executor/run_directory/control_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fcntl.h>
#include <utility>

namespace ponk::engine {

using model::RunState;

namespace {

// Executors do not know by which configuration a run was asked for.
Error name_configuration(const Error& error, const std::string& configuration)
{
    if (configuration.empty()) return error;
    return fill_in_advice(
        error,
        "'ponk experiment prepare'",
        fmt::format("'ponk experiment prepare -c {}'", shell_word(configuration)));
}

Json git_json(const std::optional<config::GitInfo>& git)
{
    if (!git) return {};
    return JsonObject{{"commit", git->commit},
                      {"branch", git->branch},
                      {"remote", git->remote},
                      {"dirty", git->dirty ? Json(*git->dirty) : Json()}};
}

// Which packages, and why these: the one line that tells.
std::string packages_line(const RunSpec& spec, const executor::EnvironmentUsed& used)
{
    const auto& choice = spec.environment.choice;
    auto line = "packages: " + (choice.empty() ? "those that are there" : choice);
    if (!used.version.empty())
        line += fmt::format(" (Python {}, {} package{})",
                            used.version,
                            used.packages,
                            used.packages == 1 ? "" : "s");
    return line;
}

}  // namespace

// A run that waits executes what was submitted, whatever happens to the project meanwhile.
Result<> Supervisor::store_snapshot()
{
    TRY(os::make_directories(directory().root()));
    store::RunChange change;
    const auto lease =
        TRY(take_snapshot(change, step_.get_token()).map_error(while_doing("snapshot")));
    TRY(write_first_note(directory().root(), run_));
    TRY(context_.history.update_run(run_.id, change));
    if (cancel_requested()) return fail(ErrorKind::cancelled, "canceled before it had begun");
    return {};
}

Result<> Supervisor::prepare(std::stop_token stop)
{
    const auto waited =
        run_.state == RunState::not_started ? wall_milliseconds() - run_.created : 0;
    if (run_.state == RunState::not_started) TRY(move_to(RunState::preparing));
    TRY(os::make_directories(directory().task()));
    store::RunChange change;
    // Until history names the snapshot, nothing else keeps its objects from the collector.
    std::optional<snapshot::Lease> lease;
    if (run_.snapshot.empty() && !TRY(find_noted_snapshot(change))) {
        lease.emplace(
            TRY(take_snapshot(change, step_.get_token()).map_error(while_doing("snapshot"))));
    }
    const auto listed = TRY(measure_inputs(change));
    TRY(write_first_note(directory().root(), run_));
    const auto begin = boot_milliseconds();
    auto staged = TRY(stage(change, lease).map_error([&](const Error& error) {
        return name_configuration(executor::remote::advise_for_host(
                                      error, {spec_.location.host, {}}, spec_.location.target),
                                  spec_.run_configuration);
    }));
    const auto changed = staged.environment
                             ? changed_packages(directory().root(), spec_, *staged.environment)
                             : std::string();
    if (!changed.empty())
        staged.notices.push_back("the packages are not those of the repeated run: " + changed);
    change.warnings = tell_warnings(std::move(staged.notices));
    change.timings["materialise"] = boot_milliseconds() - begin - staged.prepare_ms;
    change.timings["prepare"] = staged.prepare_ms;
    if (staged.environment) {
        if (staged.environment->built)
            context_.tell(run_.id, "notice", "the environment was " + staged.environment->reason);
        if (!is_preparation(spec_))
            context_.tell(run_.id, "notice", packages_line(spec_, *staged.environment));
        change.environment = run_.environment =
            TRY(keep_environment(directory().root(), *staged.environment));
        TRY(write_first_note(directory().root(), run_));
    }
    change.timings["queue"] = std::max<std::int64_t>(waited, 0);
    if (stop.stop_requested() || cancel_requested())
        return fail(ErrorKind::cancelled, "canceled before it started");
    return move_to(RunState::starting, change);
}

// Data that does not travel is recorded by what it is now.
// What is returned keeps the lists that go to another machine.
Result<std::vector<snapshot::Lease>> Supervisor::measure_inputs(store::RunChange& change)
{
    std::vector<snapshot::Lease> leases;
    if (spec_.inputs.empty()) return leases;
    const auto tell = [this](const std::string& kind, const std::string& line) {
        context_.tell(run_.id, kind, line);
    };
    for (auto& input : spec_.inputs) {
        if (input.with_digest)
            tell_progress("reading input '" + printable(input.path) + "' for its digest");
        auto now = TRY(measure(input, step_.get_token())
                           .map_error(while_doing("input '{}'", printable(input.path))));
        if (spec_.location.kind == model::Location::Kind::host) {
            auto listed = TRY(list_input(context_, now, tell, step_.get_token())
                                  .map_error(while_doing("input '{}'", printable(input.path))));
            for (const auto& notice : listed.notices)
                tell("notice", "input '" + printable(input.path) + "': " + notice);
            now.tree = std::move(listed.tree);
            leases.push_back(std::move(listed.lease));
        }
        const auto text = run_.rerun_of.empty() ? "" : difference(input, now);
        if (!text.empty())
            context_.tell(run_.id,
                          "notice",
                          text + ": it is not what run " +
                              run_.rerun_of.substr(run_.rerun_of.size() - 8) + " used");
        input = std::move(now);
    }
    run_.configuration = to_json(spec_);
    change.configuration = run_.configuration;
    return leases;
}

// All that was asked for is there.
Result<> Supervisor::finish_preparation()
{
    store::RunChange change;
    change.started = run_.created;
    change.ended = wall_milliseconds();
    change.exit_code = 0;
    TRY(executor().clean(handle(), directory()));
    return move_through({RunState::finalizing, RunState::completed}, change);
}

// What a build says is the log of a preparation, which has no other.
void Supervisor::tell_progress(const std::string& line) const
{
    context_.tell(run_.id, "progress", line);
    if (!is_preparation(spec_)) return;
    const auto log = os::open_file(
        directory().task() / executor::control::log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (log) static_cast<void>(os::write_all(log->get(), line + "\n"));
    context_.notifier.ring(run_.id);
}

// A daemon before us was killed between the snapshot and the launch: what was submitted then is
// what runs.
Result<bool> Supervisor::find_noted_snapshot(store::RunChange& change)
{
    const auto noted = read_note(directory().root());
    Digest digest{};
    if (!noted || noted->id != run_.id || !parse_digest(noted->snapshot, digest)) return false;
    if (!TRY(context_.objects.contains(digest))) return false;
    change.snapshot = run_.snapshot = noted->snapshot;
    change.git = run_.git = noted->git;
    return true;
}

// What the store lost may still lie in the project: then it is stored again and the run goes on.
Result<executor::Staged> Supervisor::stage(store::RunChange& change,
                                           std::optional<snapshot::Lease>& lease)
{
    // Something that takes long has begun: from now on the record tells what will be run, and who
    // waits only for that may go.
    bool told = false;
    const auto progress = [&](const std::string& line) {
        if (!std::exchange(told, true)) record_snapshot(change);
        tell_progress(line);
    };
    auto staged = executor().stage(TRY(job_of()), progress, step_.get_token());
    if (staged || (staged.error().kind() != ErrorKind::damaged &&
                   staged.error().kind() != ErrorKind::not_found))
        return staged;
    auto stored = store_files(step_.get_token());
    if (!stored) return staged;
    lease.emplace(std::move(stored->lease));
    if (run_.rerun_of.empty() && stored->id.text() != run_.snapshot) {
        change.snapshot = run_.snapshot = stored->id.text();
        TRY(write_first_note(directory().root(), run_));
    }
    auto again = executor().stage(TRY(job_of()), progress, step_.get_token());
    if (!again) return staged;
    again->notices.push_back("the stored snapshot was damaged and has been stored again from " +
                             os::in_quotes(run_.project_path) + " (" + staged.error().message() +
                             ")");
    return again;
}

void Supervisor::record_snapshot(const store::RunChange& change)
{
    store::RunChange known;
    known.snapshot = run_.snapshot;
    known.git = run_.git;
    known.timings = change.timings;
    // Not the only chance: the change of state that follows brings it again.
    if (context_.history.update_run(run_.id, known)) context_.notifier.ring(run_.id, News::row);
}

Result<snapshot::SnapshotReport> Supervisor::store_files(std::stop_token stop)
{
    return store_project(
        context_,
        run_.project_path,
        is_preparation(spec_) ? part_for_preparation(run_.project_path, spec_) : std::nullopt,
        [this](const std::string& kind, const std::string& line) {
            context_.tell(run_.id, kind, line);
        },
        std::move(stop));
}

Result<snapshot::Lease> Supervisor::take_snapshot(store::RunChange& change, std::stop_token stop)
{
    const auto begin = boot_milliseconds();
    auto report = TRY(store_files(std::move(stop)));
    for (const auto& input : spec_.inputs)
        report.left_out.forget(input.path);
    if (report.left_out.any())
        report.notices.push_back(report.left_out.summary() + "; 'ponk check --files' shows why");
    for (const auto& notice : report.notices)
        context_.tell(run_.id, "notice", notice);
    change.snapshot = run_.snapshot = report.id.text();
    change.git = run_.git = git_json(report.git);
    change.timings["snapshot"] = boot_milliseconds() - begin;
    return std::move(report.lease);
}

}  // namespace ponk::engine
