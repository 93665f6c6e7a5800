// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/hash.hpp"
#include "base/id.hpp"
#include "executor/job/run_directory.hpp"
#include "os/file.hpp"
#include "os/file_lock.hpp"

#include <optional>
#include <stop_token>
#include <vector>

namespace ponk::agent {

using os::Path;

// Notes about a run that only this machine has.
namespace mark {
constexpr const char* type = "type";            // of its target
constexpr const char* snapshot = "snapshot";    // the tree's manifest
constexpr const char* outputs = "outputs";      // the manifest of what it wrote
constexpr const char* kept = "kept";            // the manifest of what it wrote elsewhere
constexpr const char* inputs = "inputs";        // a line for each: TREE PLACE
constexpr const char* collected = "collected";  // log, record and outputs are with the daemon
}  // namespace mark

// The runs of this machine: HOME/runs/ID, and HOME/notes/ID for what their scripts must not change.
// A value.
class RunFolders {
public:
    explicit RunFolders(Path home) : home_(std::move(home)) {}

    [[nodiscard]] executor::RunDirectory of(const RunId& run) const
    {
        return executor::RunDirectory(home_ / "runs" / run.text());
    }
    // What changes a run is done by one process at a time: after a cut, the ponk-agent of the old
    // connection may go on for a moment.
    Result<os::FileLock> lock(const RunId& run, std::stop_token stop) const;
    // nullopt while somebody else has it.
    [[nodiscard]] Result<std::optional<os::FileLock>> try_lock(const RunId& run) const;
    // Takes everything of the run away.
    Result<> remove(const RunId& run) const;
    [[nodiscard]] std::vector<RunId> all() const;

    // Puts our mark into `runs`, unless runs that we have notes of are missing there: then it may
    // be another folder in the place of ours, whose disk is not mounted, say.
    Result<> mark(const std::string& identity) const;
    // False when nothing can be said about runs that are not there.
    [[nodiscard]] bool is_marked(const std::string& identity) const;

    Result<> note(const RunId& run, const char* name, const std::string& text) const;
    [[nodiscard]] std::optional<std::string> find_note(const RunId& run, const char* name) const;
    [[nodiscard]] std::optional<Digest> find_digest(const RunId& run, const char* name) const;
    // When the note was last written, wall clock; 0: never.
    [[nodiscard]] std::int64_t noted_ms(const RunId& run, const char* name) const;

private:
    [[nodiscard]] Path note_file(const RunId& run, const char* name) const
    {
        return home_ / "notes" / run.text() / name;
    }

    Path home_;
};

}  // namespace ponk::agent
