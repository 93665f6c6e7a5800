// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"
#include "executor/run_directory/control_seal.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>

// A run directory on this machine before and after the run: what targets that execute here, with or
// without a container, have in common.
namespace ponk::executor {

// Trees in and out of the object store, which lives elsewhere.
struct TreeStore {
    // Makes the tree of `job.spec.snapshot` at `destination`, which does not exist yet.
    std::function<Result<Notices>(const Job& job, const Path& destination, std::stop_token stop)>
        materialise;
    // Stores a folder and returns its manifest, and what it could not hold.
    std::function<Result<Collected>(const Path& folder, std::stop_token stop)> store;
    // The same with these files of it alone.
    using Paths = std::set<std::string, std::less<>>;
    std::function<Result<Collected>(const Path& folder, const Paths& files, std::stop_token stop)>
        store_some = {};
};

// Makes `work/`, whole or not at all: the tree, its inputs at their places, and an empty `outputs`.
Result<Notices> stage_working_copy(const TreeStore& trees, const Job& job, std::stop_token stop);

// When it was complete, by the clock of its file system in nanoseconds; nullopt: nobody knows.
std::optional<std::int64_t> staged_time(const RunDirectory& directory);
// What the script did not change was removed: that time is not needed any more.
void note_trimmed(const RunDirectory& directory);

// Stores `work/outputs`; nothing when there is none or nothing in it.
Result<Collected> collect_outputs(const TreeStore& trees,
                                  const RunDirectory& directory,
                                  const BeforeStoring& before,
                                  std::stop_token stop);

// False: there is nothing to collect.
bool has_outputs(const RunDirectory& directory);

// Removes the tree and the control files, not the log and the record; `conflict` while the run
// lives.
Result<> clean_run_directory(const SealedFiles& files, const RunDirectory& directory);

}  // namespace ponk::executor
