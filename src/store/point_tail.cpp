// SPDX-License-Identifier: Apache-2.0
#include "store/point_tail.hpp"

#include "store/series.hpp"
#include "store/tail_codec.hpp"

namespace ponk::store {

namespace {

// Points in a transaction and in memory: whoever logs meanwhile waits for so many.
constexpr std::size_t most_at_once = 50'000;

// True when there is nothing left.
Result<bool> settle_some(db::Connection& writer, std::int64_t run)
{
    PointsByKey points;
    std::int64_t last = 0;
    bool all = true;
    {
        auto rows =
            TRY(writer.prepare("SELECT number, data FROM tail WHERE run = ? ORDER BY number"));
        rows.bind(run);
        while (TRY(rows.step())) {
            if (points.size() >= most_at_once) {
                all = false;
                break;
            }
            TRY(decode_tail(rows.bytes(1), points));
            last = rows.integer(0);
        }
    }
    if (last == 0) return true;
    TRY(add_points(writer, run, points));
    auto remove = TRY(writer.prepare("DELETE FROM tail WHERE run = ? AND number <= ?"));
    TRY(remove.bind(run, last).run());
    return all;
}

}  // namespace

Result<>
append_tail(db::Connection& writer, Unsettled& unsettled, std::int64_t run, std::string_view tail)
{
    auto insert = TRY(writer.prepare("INSERT INTO tail(run, number, data) SELECT ?1,"
                                     " coalesce(max(number), 0) + 1, ?2 FROM tail WHERE run = ?1"));
    TRY(insert.bind(run, db::Blob{tail}).run());
    unsettled.note(run, tail.size());
    return {};
}

Result<> settle(db::Database& database, Unsettled& unsettled, std::int64_t run)
{
    if (!unsettled.has(run)) return {};
    // The mark is read inside, where nobody adds: what was noted up to there is what is settled.
    // Power may fail before this reaches the disk; then the tail is there again.
    Unsettled::Mark mark = 0;
    for (bool all = false; !all;) {
        all = TRY(database
                      .write(db::Durability::process,
                             [&](db::Connection& writer) {
                                 mark = unsettled.mark(run);
                                 return settle_some(writer, run);
                             })
                      .map_error(while_doing("settle points")));
    }
    unsettled.forget(run, mark);
    return {};
}

Result<> settle_all(db::Database& database, Unsettled& unsettled)
{
    for (const auto run : unsettled.runs())
        TRY(settle(database, unsettled, run));
    return {};
}

Result<> note_tails(db::Connection& connection, Unsettled& unsettled)
{
    auto rows = TRY(connection.prepare("SELECT run, sum(length(data)) FROM tail GROUP BY run"));
    while (TRY(rows.step()))
        unsettled.note(rows.integer(0), static_cast<std::uint64_t>(rows.integer(1)));
    return {};
}

}  // namespace ponk::store
