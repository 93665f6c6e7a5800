// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/database.hpp"

namespace ponk::store {

// Looks up the least and greatest numbers of keys that an earlier version stored, in many short
// transactions.
Result<> make_missing_ranges(db::Database& database);

}  // namespace ponk::store
