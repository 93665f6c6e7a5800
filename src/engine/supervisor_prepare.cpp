// SPDX-License-Identifier: Apache-2.0
// Before the launch: snapshot and working copy.
#include "base/text.hpp"
#include "config/ignore_rules.hpp"
#include "engine/supervisor.hpp"
#include "snapshot/take_snapshot.hpp"

#include <fmt/format.h>

#include <atomic>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::engine {

using model::RunState;

namespace {

constexpr const char* note_name = "record.json";

// Changes whenever the rules do, so that the walk can trust what it remembers of a folder.
std::string fingerprint(const Path& project, const config::IgnoreRules& rules)
{
    std::string text(config::IgnoreRules::base_rules());
    if (!rules.source().empty()) {
        const auto lines = os::read_file(project / rules.source());
        text += rules.source() + "\n" + lines.value_or("");
    }
    return sha256(text).text();
}

Json git_json(const std::optional<snapshot::GitInfo>& git)
{
    if (!git) return {};
    return JsonObject{{"commit", git->commit},
                      {"branch", git->branch},
                      {"remote", git->remote},
                      {"dirty", git->dirty ? Json(*git->dirty) : Json()}};
}

// Kept beside the run, for the day when the database is lost: daemon/recovery.cpp reads it.
Json note_of(const model::Run& run)
{
    return JsonObject{{"run_id", run.id.text()},
                      {"project", run.project},
                      {"project_path", run.project_path},
                      {"name", run.name},
                      {"user", run.user},
                      {"host", run.host},
                      {"created", run.created},
                      {"snapshot", run.snapshot},
                      {"git", run.git},
                      {"configuration", run.configuration}};
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
    // Enough for a daemon that is killed now; keep_note() makes it last once the script runs.
    TRY(os::replace_file(
        directory() / note_name, to_json(note_of(run_)) + "\n", 0600, os::Durable::no));
    const auto begin = boot_milliseconds();
    TRY(executor_->place(
        TRY(job_spec(plan)),
        [this](const std::string& line) { context_.tell(run_.id, "progress", line); },
        step_.get_token()));
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
    const auto text = os::read_file_if_any(directory() / note_name, std::uint64_t{16} << 20);
    const auto note = text && *text ? parse_json(**text) : Result<Json>(Json());
    Digest digest{};
    if (!note || !parse_digest(note->text("snapshot"), digest)) return false;
    if (!TRY(context_.objects.contains(digest))) return false;
    change.snapshot = run_.snapshot = digest.text();
    change.git = run_.git = (*note)["git"];
    return true;
}

Result<> Supervisor::keep_note()
{
    const auto file = TRY(os::open_file(directory() / note_name, O_RDONLY));
    if (::fsync(file.get()) != 0) return fail_errno(errno, "flush '{}'", note_name);
    return os::sync_directory(directory());
}

Result<snapshot::Lease> Supervisor::take_snapshot(store::RunChange& change, std::stop_token stop)
{
    const auto begin = boot_milliseconds();
    const Path project = run_.project_path;
    const auto rules = TRY(config::IgnoreRules::load(project));
    snapshot::SnapshotOptions options;
    options.directory = project;
    options.stop = std::move(stop);
    TRY(os::make_directories(context_.home / "cache" / "stat"));
    options.cache_file = context_.home / "cache" / "stat" / sha256(project.native()).text();
    options.ignore.ignored = [&rules](std::string_view path, bool is_directory) {
        return rules.ignores_entry(path, is_directory);
    };
    options.ignore.fingerprint = fingerprint(project, rules);
    std::atomic<std::int64_t> last_told{begin};
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
    for (const auto& notice : report.notices)
        context_.tell(run_.id, "notice", notice);
    change.snapshot = run_.snapshot = report.id.text();
    change.git = run_.git = git_json(report.git);
    change.timings["snapshot"] = boot_milliseconds() - begin;
    return std::move(report.lease);
}

}  // namespace ponk::engine
