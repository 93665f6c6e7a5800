// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace ponk::db {

class Connection;
using os::Path;

// A complete copy of what `source` sees now, as one file without a log beside it; writers go on
// meanwhile. It appears under its name when it is whole and on the disk. `conflict` when
// `destination` is there already.
Result<> copy_database(Connection& source, const Path& destination);

enum class Checked { entirely, in_part };  // in part: time was over, and all that was seen is sound
// Looks for damage in the file's structure. `damaged` names the first things found.
Result<Checked> quick_check(Connection& connection, std::chrono::milliseconds at_most);
// The same and every index against its table.
Result<Checked> thorough_check(Connection& connection, std::chrono::milliseconds at_most);
// The same and every reference between tables. Takes as long as it takes.
Result<> integrity_check(Connection& connection);

// The copies of one database in one folder: "NAME-20260301T123005.123Z.db".
class BackupFolder {
public:
    BackupFolder(Path folder, std::string name) : folder_(std::move(folder)), name_(std::move(name))
    {
    }

    // Makes one and returns its path.
    Result<Path> add(Connection& source) const;
    // Newest first; empty when there is no such folder.
    Result<std::vector<Path>> list() const;
    // Deletes all but the newest `count`.
    Result<> keep_newest(std::size_t count) const;

private:
    Path folder_;
    std::string name_;
};

}  // namespace ponk::db
