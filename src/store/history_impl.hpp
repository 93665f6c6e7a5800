// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.hpp"
#include "store/history.hpp"

namespace ponk::store {

struct History::Impl {
    std::unique_ptr<db::Database> database;
    Opening opening;
};

// For the classes of this folder that keep other things in the same file.
struct HistoryAccess {
    static db::Database& database(const History& history) { return *history.impl_->database; }
};

}  // namespace ponk::store
