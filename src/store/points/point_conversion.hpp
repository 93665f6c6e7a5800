// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.hpp"

namespace ponk::store {

// Makes rows of `point`, which versions before 6 wrote, chunks of their keys: a transaction for
// each key, so that a kill costs one of them and the next opening goes on. Costs nothing when there
// are none.
Result<> convert_old_points(db::Database& database);

}  // namespace ponk::store
