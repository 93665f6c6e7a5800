// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.hpp"

namespace ponk::store {

class History;

// For the classes of this folder that keep other things in the same file.
struct HistoryAccess {
    static db::Database& database(const History& history);
};

}  // namespace ponk::store
