// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/migration.hpp"

namespace ponk::store {

// The database of history, all versions: the *.sql files beside this one.
db::Schema history_schema();

}  // namespace ponk::store
