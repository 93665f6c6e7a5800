// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/hash.hpp"
#include "base/id.hpp"
#include "os/file.hpp"
#include "os/file_lock.hpp"

#include <optional>
#include <stop_token>
#include <vector>

namespace ponk::box {

using os::Path;

// Files of a run directory that only this machine has.
namespace mark {
constexpr const char* snapshot = "snapshot";    // the tree's manifest
constexpr const char* outputs = "outputs";      // the manifest of what it wrote
constexpr const char* collected = "collected";  // all of that is with the daemon
}  // namespace mark

// The runs of this machine: HOME/runs/ID. A value.
class RunFolders {
public:
    explicit RunFolders(Path home) : home_(std::move(home)) {}

    [[nodiscard]] Path of(const RunId& run) const { return home_ / "runs" / run.text(); }
    // What changes a run is done by one process at a time: after a cut, the ponk-box of the old
    // connection may go on for a moment.
    Result<os::FileLock> lock(const RunId& run, std::stop_token stop) const;
    // Takes everything of the run away.
    Result<> remove(const RunId& run) const;
    [[nodiscard]] std::vector<RunId> all() const;

    // A digest kept in a file of the run directory.
    static Result<> write_digest(const Path& directory, const char* name, const Digest& digest);
    static std::optional<Digest> read_digest(const Path& directory, const char* name);

private:
    Path home_;
};

}  // namespace ponk::box
