// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.hpp"
#include "store/points/tail_reader.hpp"

namespace ponk::store {

class History;

// For the classes of this folder that keep other things in the same file.
struct HistoryAccess {
    static db::Database& database(const History& history);
    // For points that wait in the tail; to be made before a read begins.
    static TailReader tail_reader(const History& history);
    // Of what was logged and is not in chunks yet.
    static std::uint64_t uncompacted_bytes(const History& history);
};

}  // namespace ponk::store
