// SPDX-License-Identifier: Apache-2.0
// Before the launch: snapshot and working copy.
#include "base/synced.hpp"
#include "base/text.hpp"
#include "config/ignore_rules.hpp"
#include "engine/run_note.hpp"
#include "engine/supervisor.hpp"

#include <fmt/format.h>

#include <atomic>
#include <set>
#include <unistd.h>

namespace ponk::engine {

using model::RunState;

namespace {

// Changes whenever the rules do, so that the walk can trust what it remembers of a folder.
std::string fingerprint(const Path& project, const config::IgnoreRules& rules)
{
    std::string text(config::IgnoreRules::base_rules());
    text += "ponk's own data is left out\n";
    if (!rules.source().empty()) {
        const auto lines = os::read_file(project / rules.source());
        text += rules.source() + "\n" + lines.value_or("");
    }
    return sha256(text).text();
}

// A PONK_HOME, ours or another one: it holds keys, and runs that hold copies of projects.
bool is_home(const Path& folder)
{
    return ::access((folder / "run.key").c_str(), F_OK) == 0 &&
           ::access((folder / "store").c_str(), F_OK) == 0;
}

Json git_json(const std::optional<snapshot::GitInfo>& git)
{
    if (!git) return {};
    return JsonObject{{"commit", git->commit},
                      {"branch", git->branch},
                      {"remote", git->remote},
                      {"dirty", git->dirty ? Json(*git->dirty) : Json()}};
}

}  // namespace

Result<> Supervisor::prepare(const Plan& plan, std::stop_token stop)
{
    if (run_.state == RunState::not_started) TRY(move_to(RunState::preparing));
    TRY(os::make_directories(directory()));
    store::RunChange change;
    // Until history names the snapshot, nothing else keeps its objects from the collector.
    std::optional<snapshot::Lease> lease;
    if (run_.snapshot.empty() && !TRY(find_noted_snapshot(change))) {
        lease.emplace(
            TRY(take_snapshot(change, step_.get_token()).map_error(while_doing("snapshot"))));
    }
    TRY(write_first_note(directory(), run_));
    const auto begin = boot_milliseconds();
    auto placed = TRY(place(plan, change, lease));
    change.warnings = tell_warnings(std::move(placed.notices));
    change.timings["materialise"] = boot_milliseconds() - begin;
    change.timings["prepare"] = 0;
    change.timings["queue"] = 0;
    if (stop.stop_requested() || cancel_wished())
        return fail(ErrorKind::cancelled, "cancelled before it had begun");
    return move_to(RunState::starting, change);
}

// A daemon before us was killed between the snapshot and the launch: what was submitted then is
// what runs.
Result<bool> Supervisor::find_noted_snapshot(store::RunChange& change)
{
    const auto noted = read_note(directory());
    Digest digest{};
    if (!noted || noted->id != run_.id || !parse_digest(noted->snapshot, digest)) return false;
    if (!TRY(context_.objects.contains(digest))) return false;
    change.snapshot = run_.snapshot = noted->snapshot;
    change.git = run_.git = noted->git;
    return true;
}

// What the store lost may still lie in the project: then it is stored again and the run goes on.
Result<target::Placed>
Supervisor::place(const Plan& plan, store::RunChange& change, std::optional<snapshot::Lease>& lease)
{
    const auto progress = [this](const std::string& line) {
        context_.tell(run_.id, "progress", line);
    };
    auto placed = executor().place(TRY(job_spec(plan)), progress, step_.get_token());
    if (placed || (placed.error().kind() != ErrorKind::damaged &&
                   placed.error().kind() != ErrorKind::not_found))
        return placed;
    auto stored = store_project(step_.get_token());
    if (!stored) return placed;
    lease.emplace(std::move(stored->lease));
    if (run_.rerun_of.empty() && stored->id.text() != run_.snapshot) {
        change.snapshot = run_.snapshot = stored->id.text();
        TRY(write_first_note(directory(), run_));
    }
    auto again = executor().place(TRY(job_spec(plan)), progress, step_.get_token());
    if (!again) return placed;
    again->notices.push_back("the stored snapshot was damaged and has been stored again from " +
                             os::in_quotes(run_.project_path) + " (" + placed.error().message() +
                             ")");
    return again;
}

Result<snapshot::SnapshotReport> Supervisor::store_project(std::stop_token stop)
{
    const Path project = run_.project_path;
    if (is_home(project)) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    os::in_quotes(project) + " holds ponk's own data",
                                    "Put the script into a folder of its own."));
    }
    const auto rules = TRY(config::IgnoreRules::load(project));
    snapshot::SnapshotOptions options;
    options.directory = project;
    options.stop = std::move(stop);
    TRY(os::make_directories(context_.home / "cache" / "stat"));
    options.cache_file = context_.home / "cache" / "stat" / sha256(project.native()).text();
    Synced<std::set<std::string>> homes;
    options.ignore.ignored = [&](std::string_view path, bool is_directory) {
        if (rules.ignores_entry(path, is_directory)) return true;
        if (!is_directory || !is_home(project / path)) return false;
        homes.lock()->emplace(path);
        return true;
    };
    options.ignore.fingerprint = fingerprint(project, rules);
    std::atomic<std::int64_t> last_told{boot_milliseconds()};
    options.on_progress = [this, &last_told](const snapshot::Progress& progress) {
        const auto now = boot_milliseconds();
        auto last = last_told.load();
        if (now - last < 500 || !last_told.compare_exchange_strong(last, now)) return;
        context_.tell(
            run_.id,
            "progress",
            fmt::format("snapshot: {} files, {}", progress.files, byte_size_text(progress.bytes)));
    };
    auto report = TRY(snapshot::take_snapshot(context_.objects, options));
    for (const auto& home : *homes.lock())
        report.notices.push_back("'" + printable(home) +
                                 "' holds ponk's own data and was left out");
    return report;
}

Result<snapshot::Lease> Supervisor::take_snapshot(store::RunChange& change, std::stop_token stop)
{
    const auto begin = boot_milliseconds();
    auto report = TRY(store_project(std::move(stop)));
    for (const auto& notice : report.notices)
        context_.tell(run_.id, "notice", notice);
    change.snapshot = run_.snapshot = report.id.text();
    change.git = run_.git = git_json(report.git);
    change.timings["snapshot"] = boot_milliseconds() - begin;
    return std::move(report.lease);
}

}  // namespace ponk::engine
