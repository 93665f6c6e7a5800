// SPDX-License-Identifier: Apache-2.0
#include "agent/garbage.hpp"

#include "agent/input_trees.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/file_lock.hpp"

#include <set>
#include <string>
#include <sys/stat.h>

namespace ponk::agent {

namespace {

constexpr std::int64_t day_ms = std::int64_t{24} * 3600 * 1000;

std::int64_t changed_ms(const Path& path)
{
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return 0;
    return std::int64_t{info.st_mtim.tv_sec} * 1000;
}

// Those of runs that are under way.
std::set<std::string> inputs_in_use(const RunFolders& runs)
{
    std::set<std::string> used;
    for (const auto& run : runs.all()) {
        // A job may wait for days, and locks of another node are not seen everywhere.
        const bool is_job =
            runs.find_note(run, mark::type) == "slurm" && runs.noted_ms(run, mark::collected) == 0;
        if (!is_job && !executor::is_locked(runs.of(run).task())) continue;
        const auto text = runs.find_note(run, mark::inputs).value_or("");
        for (const auto& line : split(text, '\n'))
            used.insert(std::string(line.substr(0, line.find_first_of("/ "))));
    }
    return used;
}

// They are large: when the disk fills, those that no run has used for a day go.
void remove_idle_inputs(const Path& home, const RunFolders& runs, std::int64_t oldest)
{
    const auto used = inputs_in_use(runs);
    for (const auto& id : InputTree::all(home)) {
        const InputTree tree(home, id);
        if (used.contains(id.text()) || tree.used_ms() >= oldest) continue;
        const auto lock = tree.try_lock();
        if (lock && *lock && tree.used_ms() < oldest) static_cast<void>(tree.remove());
    }
}

}  // namespace

Result<snapshot::GarbageReport> collect_garbage(const Path& home,
                                                const snapshot::ObjectStore& objects,
                                                const RunFolders& runs,
                                                const GarbageRules& rules,
                                                const std::stop_token& stop)
{
    const auto space = os::free_space(home);
    const auto keep = space && *space < rules.little_space ? rules.keep_when_full : rules.keep;
    const auto oldest = rules.now_ms - std::chrono::milliseconds(rules.keep).count();
    for (const auto& run : runs.all()) {
        // The daemon's word counts; the files of the run are its script's.
        const auto fetched = runs.noted_ms(run, mark::collected);
        if (fetched == 0 || fetched >= oldest || executor::is_locked(runs.of(run).task())) continue;
        // One that cannot go now, because its engine is away, goes another day.
        static_cast<void>(rules.remove(run));
    }
    remove_idle_inputs(home, runs, rules.now_ms - std::chrono::milliseconds(keep).count());
    snapshot::GarbageOptions options;
    options.now_ms = rules.now_ms;
    options.grace = keep;
    options.stop = stop;
    options.live = [&]() -> Result<std::vector<Digest>> {
        std::vector<Digest> live;
        for (const auto& run : runs.all()) {
            for (const auto* name : {mark::snapshot, mark::outputs, mark::kept}) {
                const auto digest = runs.find_digest(run, name);
                // One that is not here, of a transfer that was cut, keeps nothing alive.
                if (digest && TRY(objects.contains(*digest))) live.push_back(*digest);
            }
        }
        return live;
    };
    return snapshot::collect_garbage(objects, options);
}

Result<> collect_garbage_if_due(const Path& home,
                                const snapshot::ObjectStore& objects,
                                const RunFolders& runs,
                                const std::function<Result<>(const RunId& run)>& remove,
                                const std::stop_token& stop)
{
    const auto done = home / "garbage";
    const auto now = wall_milliseconds();
    const auto last = changed_ms(done);
    if (last <= now && now - last < day_ms) return {};
    const auto lock =
        TRY(os::FileLock::try_take(home / "garbage.lock", os::FileLock::Kind::exclusive));
    if (!lock) return {};
    TRY(collect_garbage(home, objects, runs, {.now_ms = now, .remove = remove}, stop));
    return os::replace_file(done, "", 0600, os::Durable::no);
}

}  // namespace ponk::agent
