// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ponk::db {

struct LibraryVersion {
    std::string version;  // "3.53.2"
    std::string source;   // "bundled" or "system"
    // True from 3.51.3 on; older ones can damage a file when two connections checkpoint and write.
    bool has_wal_reset_fix = false;

    // "SQLite 3.53.2 (bundled)"
    [[nodiscard]] std::string text() const;
};

LibraryVersion library_version();

}  // namespace ponk::db
