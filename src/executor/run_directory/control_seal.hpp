// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/id.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>
#include <string_view>

// Proof that a file of a run directory was written by its supervisor or by us. The script may write
// into that directory, but it is not given the run's key. docs/design/run-directory.md describes
// it.
namespace ponk::executor {

using os::Path;

// Keys of the runs of one PONK_HOME, all made from one that is kept in a file, so that a daemon
// that is started later has them too. Immutable.
class RunKeys {
public:
    // Makes the file at the first time; `damaged` when it is not a key.
    static Result<RunKeys> load(const Path& file);
    // 64 hex digits. The same run has the same key for ever.
    [[nodiscard]] std::string of(std::string_view run) const;

private:
    explicit RunKeys(std::string home) : home_(std::move(home)) {}
    std::string home_;
};

// The files of one run directory that carry a seal.
class SealedFiles {
public:
    SealedFiles(Path directory, std::string key)
        : directory_(std::move(directory)), key_(std::move(key))
    {
    }

    // The text of a file. nullopt when it is not there, or not ours: without its seal, a link, a
    // folder, too large.
    [[nodiscard]] Result<std::optional<std::string>> find(const std::string& name) const;
    // Something has this name, ours or not.
    [[nodiscard]] bool is_taken(const std::string& name) const;
    // `text` ends with the line "end"; the seal goes before it.
    [[nodiscard]] std::string sealed(const std::string& name, std::string_view text) const;
    // Makes the file appear once. One of ours that is there is a success, and stays; what is not
    // ours gives way.
    [[nodiscard]] Result<> publish(const std::string& name, std::string_view text) const;

private:
    Path directory_;
    std::string key_;
};

}  // namespace ponk::executor
