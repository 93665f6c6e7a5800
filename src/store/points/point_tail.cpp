// SPDX-License-Identifier: Apache-2.0
#include "store/points/point_tail.hpp"

#include "store/points/series.hpp"
#include "store/points/tail_codec.hpp"

#include <functional>
#include <map>
#include <span>
#include <vector>

namespace ponk::store {

namespace {

// In a transaction: points, which have to be in memory, and rows, for whose removal others wait.
// The more points of a key come together, the fewer of its chunks are written again.
constexpr std::size_t most_points = 300'000;
constexpr std::size_t most_rows = 20'000;

// Rows of the tail, and what becomes of them.
struct Taken {
    std::vector<std::int64_t> rows;            // ascending
    bool all = true;                           // there were no more
    std::map<std::int64_t, PointsPlan> plans;  // of runs that are there
};

// A row of the tail may outlive its run.
Result<bool> has_run(db::Connection& connection, std::int64_t run)
{
    auto exists = TRY(connection.prepare("SELECT 1 FROM run WHERE row = ?"));
    exists.bind(run);
    return exists.step();
}

// Collects rows until they have enough points.
class Taking {
public:
    // False when there are enough: then the row is not taken.
    Result<bool> add(std::int64_t row, std::int64_t run, std::string_view data)
    {
        if (count_ >= most_points || taken_.rows.size() >= most_rows) {
            taken_.all = false;
            return false;
        }
        auto& points = points_[run];
        const auto before = points.size();
        TRY(decode_tail(data, points));
        count_ += points.size() - before;
        taken_.rows.push_back(row);
        return true;
    }
    Result<Taken> plan(db::Connection& connection) &&
    {
        for (const auto& [run, points] : points_) {
            if (TRY(has_run(connection, run)))
                taken_.plans.emplace(run, TRY(plan_points(connection, run, points)));
        }
        return std::move(taken_);
    }

private:
    Taken taken_;
    std::map<std::int64_t, PointsByKey> points_;
    std::size_t count_ = 0;
};

using Take = std::function<Result<Taken>(db::Connection&)>;

Result<Taken> take_first(db::Connection& connection)
{
    Taking taking;
    auto rows = TRY(connection.prepare("SELECT row, run, data FROM tail ORDER BY row"));
    while (TRY(rows.step())) {
        if (!TRY(taking.add(rows.integer(0), rows.integer(1), rows.bytes(2)))) break;
    }
    rows.reset();
    return std::move(taking).plan(connection);
}

// Those of `rows` that are there: one that is not yet committed is not.
Result<Taken> take_rows(db::Connection& connection, const std::vector<std::int64_t>& rows)
{
    Taking taking;
    auto one = TRY(connection.prepare("SELECT run, data FROM tail WHERE row = ?"));
    for (const auto row : rows) {
        one.bind(row);
        if (TRY(one.step()) && !TRY(taking.add(row, one.integer(0), one.bytes(1)))) break;
        one.reset();
    }
    one.reset();
    return std::move(taking).plan(connection);
}

Result<bool> still_holds(db::Connection& writer, const Taken& taken)
{
    for (const auto& [run, plan] : taken.plans) {
        if (!TRY(has_run(writer, run)) || !TRY(still_holds(writer, run, plan))) return false;
    }
    return true;
}

Result<> move(db::Connection& writer, const Taken& taken)
{
    for (const auto& [run, plan] : taken.plans)
        TRY(store_points(writer, run, plan));
    auto remove = TRY(writer.prepare("DELETE FROM tail WHERE row = ?"));
    for (const auto row : taken.rows)
        TRY(remove.bind(row).run());
    return {};
}

// What takes time is done before the transaction for which others wait. Returns what was moved.
Result<Taken> compact_some(db::Database& database, const Take& take)
{
    auto taken = TRY(database.read(take).map_error(while_doing("compact points")));
    if (taken.rows.empty()) return taken;
    // Power may fail before this reaches the disk; then the tail is there again.
    TRY(database
            .write(db::Durability::process,
                   [&](db::Connection& writer) -> Result<> {
                       if (!TRY(still_holds(writer, taken))) taken = TRY(take(writer));
                       return move(writer, taken);
                   })
            .map_error(while_doing("compact points")));
    return taken;
}

}  // namespace

Result<TailRow> append_tail(db::Connection& writer,
                            Uncompacted& uncompacted,
                            std::int64_t run,
                            std::string_view tail)
{
    const auto row = uncompacted.next_row();
    auto insert = TRY(writer.prepare("INSERT INTO tail(row, run, data) VALUES(?, ?, ?)"));
    TRY(insert.bind(row, run, db::Blob{tail}).run());
    uncompacted.note(run, row, tail.size());
    return TailRow{run, row};
}

void forget_tail(Uncompacted& uncompacted, const std::optional<TailRow>& row)
{
    if (row) uncompacted.forget(row->run, std::span(&row->row, 1));
}

Result<> compact(db::Database& database, Uncompacted& uncompacted, std::int64_t run)
{
    // What comes meanwhile is not waited for: there may be no end of it.
    const auto last = uncompacted.last_row();
    for (bool all = false; !all && uncompacted.has(run);) {
        const Uncompacted::Turn turn(uncompacted);
        TRY(turn.taken());
        auto rows = uncompacted.rows(run);
        std::erase_if(rows, [last](std::int64_t row) { return row > last; });
        if (rows.empty()) break;
        const auto taken = TRY(compact_some(
            database, [&rows](db::Connection& reader) { return take_rows(reader, rows); }));
        uncompacted.forget(run, taken.rows);
        all = taken.all;
    }
    return {};
}

namespace {

// The oldest rows; false when there are no more up to `last`. Whoever calls has the turn.
Result<bool> compact_oldest(db::Database& database, Uncompacted& uncompacted, std::int64_t last)
{
    const auto taken = TRY(compact_some(database, take_first));
    if (!taken.rows.empty()) uncompacted.forget_until(taken.rows.back());
    return !taken.all && (taken.rows.empty() || taken.rows.back() < last);
}

}  // namespace

Result<> compact_all(db::Database& database, Uncompacted& uncompacted)
{
    const auto last = uncompacted.last_row();
    for (bool more = true; more && uncompacted.any();) {
        const Uncompacted::Turn turn(uncompacted);
        TRY(turn.taken());
        more = TRY(compact_oldest(database, uncompacted, last));
    }
    return {};
}

Result<> compact_down_to(db::Database& database, Uncompacted& uncompacted, std::uint64_t bytes)
{
    const auto last = uncompacted.last_row();
    for (bool more = true; more && uncompacted.bytes() > bytes;) {
        const Uncompacted::Turn turn(uncompacted);
        TRY(turn.taken());
        // Others may have done it before it was our turn.
        if (uncompacted.bytes() > bytes) more = TRY(compact_oldest(database, uncompacted, last));
    }
    return {};
}

Result<std::vector<std::int64_t>>
compact_within(db::Connection& writer, const Uncompacted& uncompacted, std::int64_t run)
{
    // Rows that a thread which compacts has chosen may be among them: before it moves them it looks
    // whether its plan still holds.
    auto rows = uncompacted.rows(run);
    for (bool all = rows.empty(); !all;) {
        const auto taken = TRY(take_rows(writer, rows));
        TRY(move(writer, taken));
        all = taken.all;
    }
    return rows;
}

Result<> note_tails(db::Connection& connection, Uncompacted& uncompacted)
{
    auto rows = TRY(connection.prepare("SELECT row, run, length(data) FROM tail ORDER BY row"));
    while (TRY(rows.step()))
        uncompacted.note(
            rows.integer(1), rows.integer(0), static_cast<std::uint64_t>(rows.integer(2)));
    return {};
}

}  // namespace ponk::store
