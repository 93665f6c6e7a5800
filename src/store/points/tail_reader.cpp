// SPDX-License-Identifier: Apache-2.0
#include "store/points/tail_reader.hpp"

#include "base/work_budget.hpp"
#include "store/points/tail_codec.hpp"

namespace ponk::store {

Result<PointsByKey> TailReader::points(db::Connection& reader,
                                       std::int64_t run,
                                       std::span<const std::string> keys) const
{
    PointsByKey points;
    // Before the list is asked: the transaction's moment is that of its first statement.
    const auto sees = TRY(reader.query_integer("SELECT coalesce(max(row), 0) FROM tail"));
    if (sees == 0) return points;
    const auto rows = uncompacted_.rows(run);
    if (!knows_all()) {
        // Somebody has compacted since: rows that this transaction sees may be missing in the list.
        auto each = TRY(reader.prepare("SELECT data FROM tail WHERE run = ? ORDER BY row"));
        each.bind(run);
        while (TRY(each.step()))
            TRY(decode_tail(each.bytes(0), keys, points));
        return points;
    }
    auto one = TRY(reader.prepare("SELECT data FROM tail WHERE row = ?"));
    for (const auto row : rows) {
        if (row > sees) break;
        TRY(check_work());
        one.bind(row);
        if (TRY(one.step())) TRY(decode_tail(one.bytes(0), keys, points));
        one.reset();
    }
    return points;
}

Result<std::map<std::int64_t, PointsByKey>>
TailReader::all_points(db::Connection& reader, std::span<const std::string> keys) const
{
    std::map<std::int64_t, PointsByKey> all;
    auto rows = TRY(reader.prepare("SELECT run, data FROM tail ORDER BY row"));
    while (TRY(rows.step()))
        TRY(decode_tail(rows.bytes(1), keys, all[rows.integer(0)]));
    std::erase_if(all, [](const auto& run) { return run.second.empty(); });
    return all;
}

}  // namespace ponk::store
