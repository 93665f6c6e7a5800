// SPDX-License-Identifier: Apache-2.0
#include "engine/maintenance/maintenance.hpp"

#include "base/time.hpp"
#include "engine/files/run_files.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::engine {

namespace {

// Notes of when a run's artifacts were first seen without their run, each an empty file.
constexpr const char* unclaimed_name = ".unclaimed";
constexpr std::int64_t stray_age_ms = std::int64_t{14} * 24 * 3600 * 1000;

Result<std::vector<Digest>> live_manifests(const store::History& history)
{
    std::vector<Digest> live;
    store::RunFilter filter;
    filter.hidden = store::RunFilter::Hidden::include;
    filter.limit = 1000;
    for (;;) {
        const auto page = TRY(history.list_runs(filter));
        for (const auto& run : page.runs) {
            for (const auto* text : {&run.snapshot, &run.outputs}) {
                Digest digest;
                if (parse_digest(*text, digest)) live.push_back(digest);
            }
        }
        if (!page.next) return live;
        filter.before = page.next;
    }
}

// How long this is known to be stray; notes it when it is new.
Result<std::int64_t> stray_since(const Path& note)
{
    struct stat info {};
    if (::stat(note.c_str(), &info) == 0)
        return patient_now() - std::int64_t{info.st_mtim.tv_sec} * 1000;
    TRY(os::make_directories(note.parent_path()));
    TRY(os::replace_file(note, "", 0600, os::Durable::no));
    return 0;
}

}  // namespace

// The wall clock, as long as it goes no faster than time: one that is set years ahead must not end
// every grace at once. A step back is believed, since it only makes us wait.
std::int64_t patient_now()
{
    constexpr std::int64_t tolerance_ms = 3600 * 1000;
    static const std::int64_t wall = wall_milliseconds();
    static const std::int64_t boot = boot_milliseconds();
    return std::min(wall_milliseconds(), wall + (boot_milliseconds() - boot) + tolerance_ms);
}

void begin_patience()
{
    static_cast<void>(patient_now());
}

Result<snapshot::GarbageReport>
collect_garbage(const Context& context, CollectWhen when, std::stop_token stop)
{
    snapshot::GarbageOptions options;
    options.live = [&context] { return live_manifests(context.history); };
    options.now_ms = patient_now();
    options.stop = std::move(stop);
    if (when == CollectWhen::after_grace)
        return snapshot::collect_garbage(context.objects, options);
    options.grace = std::chrono::hours(0);
    options.trash_time = std::chrono::hours(0);
    // The first pass moves into the trash, the second empties it.
    auto report = TRY(snapshot::collect_garbage(context.objects, options));
    report.deleted_objects =
        TRY(snapshot::collect_garbage(context.objects, options)).deleted_objects;
    return report;
}

Result<std::size_t> remove_stray_folders(const Context& context)
{
    std::size_t removed = 0;
    Result<> outcome;  // one that stays does not keep the others
    const auto entries = os::list_directory(context.home / "runs");
    if (!entries && entries.error().kind() == ErrorKind::not_found) return removed;
    for (const auto& entry : TRY(entries)) {
        const auto id = RunId::parse(entry.name);
        if (!id || entry.type != DT_DIR || TRY(context.history.find_run(*id))) continue;
        const auto folder = context.run_directory(*id);
        struct stat info {};
        if (::stat(folder.root().c_str(), &info) != 0) continue;
        const auto age = patient_now() - std::int64_t{info.st_mtim.tv_sec} * 1000;
        if (age < stray_age_ms || executor::is_locked(folder.task())) continue;
        const auto gone = os::remove_tree(folder.root());
        if (gone) ++removed;
        if (!gone && outcome) outcome = gone;
    }
    TRY(outcome);
    return removed;
}

Result<std::size_t> remove_stray_artifacts(const Context& context)
{
    std::size_t removed = 0;
    const auto folder = client_files(context);
    const auto experiments = TRY(folder.list({}));
    if (!experiments) return removed;
    for (const auto& experiment : *experiments) {
        if (experiment.name.starts_with('.')) continue;
        const auto above = TRY(store::ArtifactPath::parse(experiment.name));
        for (const auto& entry : TRY(folder.list(above)).value_or(std::vector<RunFiles::Entry>())) {
            const auto id = RunId::parse(entry.name);
            if (!id) continue;
            const auto note = context.home / "artifacts" / unclaimed_name / id->text();
            if (TRY(context.history.find_run(*id))) {
                ::unlink(note.c_str());
                continue;
            }
            if (TRY(stray_since(note)) < stray_age_ms) continue;
            TRY(folder.remove(above / TRY(store::ArtifactPath::parse(entry.name))));
            ::unlink(note.c_str());
            ++removed;
        }
    }
    return removed;
}

}  // namespace ponk::engine
