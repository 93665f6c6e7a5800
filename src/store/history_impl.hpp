// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.hpp"
#include "store/history.hpp"
#include "store/unsettled.hpp"

namespace ponk::store {

struct History::Impl {
    std::unique_ptr<db::Database> database;
    Opening opening;
    Unsettled unsettled;  // runs whose points of requests are not among their metrics yet

    // What was logged is among the run's metrics when this returns. For whoever is about to read
    // them; costs nothing where nothing is to do. A run that is not there is no error.
    Result<> settle(const RunId& id);
    Result<> settle_all();
    // Keeps the tail small; to be called after each write that appends to it. What was logged is
    // stored either way, so nothing that goes wrong here is the caller's.
    void settle_when_large();
};

// For the classes of this folder that keep other things in the same file.
struct HistoryAccess {
    static db::Database& database(const History& history) { return *history.impl_->database; }
};

}  // namespace ponk::store
