// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>

struct sqlite3;

namespace ponk::db {

// The error for a result code of SQLite: what happened to which file, and what to do. `damaged`
// for a file that is not a sound database, `unavailable` for a disk that is full, read-only or
// failing, `conflict` for a broken constraint.
Error failure(sqlite3* connection, int code, const std::string& file, const std::string& doing);

// After such a code the disk's content is no longer known: a failed fsync is never repeated,
// because the kernel forgets the pages it could not write.
bool is_final(int extended_code);
bool is_damage(int extended_code);

}  // namespace ponk::db
