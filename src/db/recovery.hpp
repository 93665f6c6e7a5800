// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"
#include "os/file_lock.hpp"

#include <optional>

namespace ponk::db {

using os::Path;

// Says who has a database open for writing, and how the last one left it: the lock file holds the
// owner's pid from opening to closing, so what a killed process leaves behind is seen.
class Ownership {
public:
    // `conflict` names the process that has it.
    static Result<Ownership> take(const Path& lock_file);

    enum class Left {
        clean,   // closed
        killed,  // not closed
        damaged  // whoever had it met damage
    };
    [[nodiscard]] Left left() const noexcept { return left_; }
    // What close_clean was given; empty when nobody ever closed it.
    [[nodiscard]] const std::string& stamp() const noexcept { return stamp_; }

    // The next owner will take the stop for a clean one. `stamp` tells the file as it was left.
    void close_clean(const std::string& stamp) const;
    // The next owner will not trust the file, whatever happens to this process.
    void note_damage() const;

private:
    Ownership(os::FileLock lock, Left left, std::string stamp)
        : lock_(std::move(lock)), left_(left), stamp_(std::move(stamp))
    {
    }
    os::FileLock lock_;
    Left left_;
    std::string stamp_;
};

// One line that changes whenever somebody writes to the file: its size, time and inode.
std::string stamp_of(const Path& database);

// True when files are there that opening would silently throw away: a write-ahead log without its
// database.
bool is_orphaned_log(const Path& database);
// A copy of a database that somebody puts in its place has no log: one that is there was that of
// the database before it, and would be mixed with the copy. Renames it and returns the new name,
// empty when there is none. Nobody may have the database open.
Result<Path> set_foreign_log_aside(const Path& database);
// Renames database, log and index to "NAME.damaged-TIME…", where they can still be opened together,
// and returns the new name of the database, empty when there was nothing. Nobody may have it open.
Result<Path> set_aside(const Path& database);
// Puts a copy of `backup` in the place of `database`, which must not be there.
Result<> put_back(const Path& backup, const Path& database);

}  // namespace ponk::db
