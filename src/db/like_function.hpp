// SPDX-License-Identifier: Apache-2.0
#pragma once

struct sqlite3;

namespace ponk::db {

// Adds `like_exact(pattern, text)` and `like_folded(pattern, text)`: base/like.hpp for statements.
// SQLite's own LIKE and GLOB take the product of both lengths.
void add_like_functions(sqlite3* handle);

}  // namespace ponk::db
