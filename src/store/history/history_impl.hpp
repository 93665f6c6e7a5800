// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.hpp"
#include "os/chore.hpp"
#include "store/history/history.hpp"
#include "store/points/tail_reader.hpp"
#include "store/points/uncompacted.hpp"

#include <optional>

namespace ponk::store {

struct History::Impl {
    std::unique_ptr<db::Database> database;
    Opening opening;
    Uncompacted uncompacted;  // rows of the tail

    // Runs `work(db::Connection&, const TailReader&)` on a reader's connection; with both it sees
    // all that was logged. Writes nothing and waits for no writer.
    template <class Work>
    std::invoke_result_t<Work, db::Connection&, const TailReader&> read(Work&& work) const
    {
        const TailReader tail(uncompacted);
        return database->read([&](db::Connection& reader) { return work(reader, tail); });
    }

    // For writers: what was logged, to the run or to all, is in chunks when this returns.
    Result<> compact(std::int64_t run);
    Result<> compact_all();
    // Keeps the tail small; to be called after each write that appends to it. What was logged is
    // stored either way, so nothing that goes wrong here is the caller's.
    void compact_when_large();
    // The same for those who must not wait.
    void call_compactor();
    [[nodiscard]] bool is_large() const;
    void compact_beside();  // by the compactor's thread
    // The next `compact_when_large` takes a while.
    [[nodiscard]] bool is_overdue() const;

    // The last members: they use the others.
    os::Chore compactor{"ponk-compactor", [this] { compact_beside(); }};
    std::optional<os::Chore> sweeper;  // compacts what was logged a while ago
};

}  // namespace ponk::store
