// SPDX-License-Identifier: Apache-2.0
#include "agent/leave.hpp"

#include "agent/home.hpp"
#include "agent/run_folders.hpp"
#include "base/text.hpp"
#include "executor/docker/docker_executor.hpp"
#include "executor/run_directory/object_trees.hpp"
#include "snapshot/object_store.hpp"

#include <set>

namespace ponk::agent {

namespace {

// Only engines keep something elsewhere.
constexpr const char* with_engine = "remotedocker";

void remove_images(executor::Environments& environments, std::vector<std::string>& stays)
{
    const auto kept = environments.list({});
    if (!kept) {
        stays.push_back("images of environments: " + kept.error().message());
        return;
    }
    for (const auto& entry : kept->entries) {
        const auto stay = [&](const std::string& why) {
            stays.push_back(
                fmt::format("image '{}' of environment '{}': {}", entry.image, entry.id, why));
        };
        const auto removed = environments.remove(entry.machine, entry.id, {});
        if (!removed) {
            stay(removed.error().message());
            continue;
        }
        for (const auto& container : removed->held_by)
            stay(fmt::format("container '{}' keeps its layers", container));
    }
}

}  // namespace

Result<std::vector<std::string>> leave(const os::Path& home, std::string_view own_runs)
{
    TRY(open_format(home, {}));
    const auto objects = TRY(snapshot::ObjectStore::open(home / "store"));
    const auto executor = TRY(executor::docker::make_executor({home, executor::trees_of(objects)}));
    std::set<std::string> own;
    for (const auto& name : split(own_runs, '\n'))
        own.insert(std::string(trim(name)));
    const RunFolders runs(home);
    std::vector<std::string> stays;
    bool alone = true;
    for (const auto& run : runs.all()) {
        if (!own.contains(run.text())) {
            alone = false;
            continue;
        }
        if (runs.find_note(run, mark::type) != with_engine) continue;
        const auto cleaned = executor->clean(run.text(), runs.of(run));
        if (!cleaned)
            stays.push_back(
                fmt::format("container '{}': {}", run.text(), cleaned.error().message()));
    }
    if (alone) remove_images(*executor->environments(), stays);
    return stays;
}

}  // namespace ponk::agent
