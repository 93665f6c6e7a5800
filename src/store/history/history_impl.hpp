// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.hpp"
#include "os/chore.hpp"
#include "store/history/history.hpp"
#include "store/points/uncompacted.hpp"

namespace ponk::store {

struct History::Impl {
    std::unique_ptr<db::Database> database;
    Opening opening;
    Uncompacted uncompacted;  // runs whose points of requests are not among their metrics yet

    // What was logged is among the run's metrics when this returns. For whoever is about to read
    // them; costs nothing where nothing is to do. A run that is not there is no error.
    Result<> compact(const RunId& id);
    Result<> compact_all();
    // Runs `work(db::Connection&)` with all that was logged, to the run or to all, among the
    // metrics; on a full disk, too.
    template <class Work>
    std::invoke_result_t<Work, db::Connection&> read_compacted(const RunId& id, Work&& work)
    {
        if (const auto compacted = compact(id); !compacted)
            return read_for_now(compacted.error(), id, work);
        return database->read(work);
    }
    template <class Work>
    std::invoke_result_t<Work, db::Connection&> read_all_compacted(Work&& work)
    {
        if (const auto compacted = compact_all(); !compacted)
            return read_for_now(compacted.error(), std::nullopt, work);
        return database->read(work);
    }
    // Keeps the tail small; to be called after each write that appends to it. What was logged is
    // stored either way, so nothing that goes wrong here is the caller's.
    void compact_when_large();
    // The same for those who must not wait.
    void call_compactor();
    // The next `compact_when_large` takes a while.
    [[nodiscard]] bool is_overdue() const;

    // Within a transaction that is not kept.
    Result<> compact_for_now(db::Connection& writer, const std::optional<RunId>& id) const;
    template <class Work>
    std::invoke_result_t<Work, db::Connection&>
    read_for_now(const Error& why, const std::optional<RunId>& id, Work&& work)
    {
        const bool room_is_wanting = why.kind() == ErrorKind::unavailable && !database->failure();
        if (!room_is_wanting) return tl::unexpected(why);
        return database->try_out([&](db::Connection& writer) -> decltype(work(writer)) {
            TRY(compact_for_now(writer, id));
            return work(writer);
        });
    }

    // The last member: it uses the others.
    os::Chore compactor{"ponk-compactor", [this] { static_cast<void>(compact_all()); }};
};

}  // namespace ponk::store
