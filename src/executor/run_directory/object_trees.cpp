// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/object_trees.hpp"

#include "snapshot/materialise.hpp"
#include "snapshot/take_snapshot.hpp"

namespace ponk::executor {

TreeStore trees_of(const snapshot::ObjectStore& objects)
{
    TreeStore trees;
    trees.materialise = [&objects](const Job& job,
                                   const Path& destination,
                                   std::stop_token stop) -> Result<Notices> {
        snapshot::MaterialiseOptions how;
        how.heal_from = job.context.source;
        how.stop = std::move(stop);
        return TRY(snapshot::materialise(objects, job.spec.snapshot, destination, how)).healed;
    };
    trees.store = [&objects](const Path& folder, std::stop_token stop) -> Result<Collected> {
        snapshot::SnapshotOptions how;
        how.git = snapshot::SnapshotOptions::Git::skip;
        how.stop = std::move(stop);
        auto report = TRY(snapshot::store_tree(objects, folder, how));
        return Collected{report.id, std::move(report.notices)};
    };
    trees.store_some = [&objects](const Path& folder,
                                  const TreeStore::Paths& files,
                                  std::stop_token stop) -> Result<Collected> {
        snapshot::SnapshotOptions how;
        how.stop = std::move(stop);
        how.ignore.ignored = [&files](std::string_view path, bool is_directory) {
            if (!is_directory) return !files.contains(path);
            const auto inside = std::string(path) + "/";
            const auto first = files.lower_bound(inside);
            return first == files.end() || !first->starts_with(inside);
        };
        auto report = TRY(snapshot::store_tree(objects, folder, how));
        return Collected{report.id, std::move(report.notices)};
    };
    return trees;
}

}  // namespace ponk::executor
