// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/run_directory/leftovers.hpp"
#include "executor/run_directory/working_copy.hpp"
#include "snapshot/manifest.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::executor {

// A run that has ended, as far as its working copy is concerned.
struct EndedRun {
    const RunDirectory& directory;
    const snapshot::Manifest& snapshot;
    std::vector<std::string> inputs;  // their places
    std::vector<std::string> keep;    // patterns: what they match is collected
};

struct FinishedCopy {
    Rest rest;
    Leftovers leftovers;
};

// Looks for new and changed files outside of `outputs` and stores those that a pattern matches, as
// a tree with their paths. Removes nothing. nullopt: the copy cannot be compared with its snapshot.
Result<std::optional<FinishedCopy>>
finish_copy(const TreeStore& trees, const EndedRun& run, std::stop_token stop);

}  // namespace ponk::executor
