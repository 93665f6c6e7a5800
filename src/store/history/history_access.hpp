// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "db/database.hpp"

namespace ponk::store {

class History;

// For the classes of this folder that keep other things in the same file.
struct HistoryAccess {
    static db::Database& database(const History& history);
    // What was logged to the run is among its metrics when this returns.
    static Result<> compact(const History& history, const RunId& id);
    // Of what was logged and is not among the metrics yet.
    static std::uint64_t uncompacted_bytes(const History& history);
};

}  // namespace ponk::store
