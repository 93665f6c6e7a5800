// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"
#include "snapshot/manifest.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ponk::executor {

using os::Path;

struct LeftFile {
    std::string path;
    std::uint64_t bytes = 0;
};

// What a run left in its copy of the project.
struct Leftovers {
    // New and changed files outside of `outputs`, without caches: nothing else keeps them.
    std::vector<LeftFile> kept;  // sorted
    // As the snapshot has them, or caches: nothing is lost with them.
    std::vector<std::string> removable;
    std::vector<std::string> folders;  // deepest first
};

std::uint64_t bytes_of(const std::vector<LeftFile>& files);
// "3 files outside of outputs/ (a.ckpt, b.bin, …; 12 MiB)"; empty: none.
std::string summary_of(const std::vector<LeftFile>& files);

// `staged_ns`: when the copy was complete, by the clock of its file system. Files that have not
// changed since are taken as they are, others are compared byte by byte. `inputs`: their places.
Result<Leftovers> find_leftovers(const Path& work,
                                 const snapshot::Manifest& before,
                                 const std::vector<std::string>& inputs,
                                 std::int64_t staged_ns);

// Removes what is removable, and folders that are empty then. What cannot be removed stays.
void remove_unchanged(const Path& work, const Leftovers& leftovers);

}  // namespace ponk::executor
