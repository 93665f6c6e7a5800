// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"
#include "os/file_lock.hpp"

#include <optional>

namespace ponk::db {

using os::Path;

// Says who has a database open for writing, and whether the last one closed it: the lock file holds
// the owner's pid from opening to closing, so what a killed process leaves behind is seen.
class Ownership {
public:
    // `conflict` names the process that has it.
    static Result<Ownership> take(const Path& lock_file);

    [[nodiscard]] bool was_clean() const noexcept { return was_clean_; }
    // The next owner will take the stop for a clean one.
    void close_clean();

private:
    Ownership(os::FileLock lock, bool was_clean) : lock_(std::move(lock)), was_clean_(was_clean) {}
    os::FileLock lock_;
    bool was_clean_;
};

// True when files are there that opening would silently throw away: a write-ahead log without its
// database.
bool is_orphaned_log(const Path& database);
// Renames database, log and index to "NAME.damaged-TIME…", where they can still be opened together,
// and returns the new name of the database. Nobody may have it open.
Result<Path> set_aside(const Path& database);
// Puts a copy of `backup` in the place of `database`, which must not be there.
Result<> put_back(const Path& backup, const Path& database);

}  // namespace ponk::db
