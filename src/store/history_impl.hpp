// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.hpp"
#include "os/chore.hpp"
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
    // The same for those who must not wait.
    void call_settler();
    // The next `settle_when_large` takes a while.
    [[nodiscard]] bool is_overdue() const;

    // The last member: it uses the others.
    os::Chore settler{"ponk-settler", [this] { static_cast<void>(settle_all()); }};
};

}  // namespace ponk::store
