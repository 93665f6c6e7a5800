// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/run_spec.hpp"
#include "os/file.hpp"
#include "snapshot/manifest.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ponk::engine {

using os::Path;

// What a run left in its copy of the project.
struct Leftovers {
    // New and changed files outside of `outputs`, without caches: nothing else keeps them.
    struct File {
        std::string path;
        std::uint64_t bytes = 0;
    };
    std::vector<File> kept;  // sorted
    // As the snapshot has them, or caches: nothing is lost with them.
    std::vector<std::string> removable;
    std::vector<std::string> folders;  // deepest first

    // "3 files outside of outputs/ (a.ckpt, b.bin, …; 12 MiB)"; empty: none.
    [[nodiscard]] std::string summary() const;
};

// `staged_ns`: when the copy was complete, by the clock of its file system. Files that have not
// changed since are taken as they are, others are compared byte by byte.
Result<Leftovers> find_leftovers(const Path& work,
                                 const snapshot::Manifest& before,
                                 const std::vector<model::Input>& inputs,
                                 std::int64_t staged_ns);

// Removes what is removable, and folders that are empty then. What cannot be removed stays.
void remove_unchanged(const Path& work, const Leftovers& leftovers);

}  // namespace ponk::engine
