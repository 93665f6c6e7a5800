// SPDX-License-Identifier: Apache-2.0
#include "store/points/chunk_row.hpp"

#include "base/work_budget.hpp"
#include "store/points/summary_row.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ponk::store {

namespace {

constexpr std::size_t most_chunk_text = std::size_t{256} << 10;
constexpr std::int64_t largest_joined = std::int64_t{512} << 10;  // bytes of a chunk

bool is_ordered(const PointColumns& points)
{
    for (std::size_t i = 1; i < points.size(); ++i) {
        const auto order = [&points](std::size_t at) {
            return std::tuple(points.steps[at], points.times[at], ValueOrder(points.values[at]));
        };
        if (order(i) < order(i - 1)) return false;
    }
    return true;
}

// Where the chunk that begins at `first` ends.
std::size_t end_of_chunk(const PointColumns& points, std::size_t first)
{
    const auto most = std::min(points.size(), first + most_chunk_points);
    if (points.texts.empty()) return most;
    std::size_t bytes = 0;
    for (auto at = first; at < most; ++at) {
        bytes += points.texts[at].size();
        if (bytes > most_chunk_text) return at + 1;
    }
    return most;
}

// Puts the points of those chunks at the key's end that are small enough before `points`. Returns
// how many points are stored before them.
Result<std::int64_t> join_small_chunks(db::Connection& connection,
                                       std::int64_t metric,
                                       std::int64_t stored,
                                       PointColumns& points,
                                       std::vector<std::int64_t>& rows)
{
    auto last =
        TRY(connection.prepare("SELECT row, first, count, length(data), data FROM chunk"
                               " WHERE metric = ? AND first < ? ORDER BY first DESC LIMIT 1"));
    ChunkDecoder decoder;
    for (;;) {
        last.bind(metric, stored);
        if (!TRY(last.step())) return stored;
        const auto most = std::min(points.size(), most_chunk_points - 1);
        if (last.integer(2) > static_cast<std::int64_t>(most) || last.integer(3) > largest_joined)
            return stored;
        auto joined = TRY(decoder.decode(last.bytes(4)));
        joined.append(points);
        points = std::move(joined);
        stored = last.integer(1);
        rows.push_back(last.integer(0));
        last.reset();
    }
}

ChunkHead head_of(const db::Statement& row)
{
    return {row.integer(0),
            row.integer(1),
            row.integer(2),
            row.integer(3),
            row.integer(4),
            row.integer(5),
            row.integer(6),
            row.integer(7) != 0,
            row.integer(8)};
}

}  // namespace

ChunkHead make_head(std::int64_t first, const PointColumns& points)
{
    const auto [least_step, greatest_step] =
        std::minmax_element(points.steps.begin(), points.steps.end());
    const auto [least_time, greatest_time] =
        std::minmax_element(points.times.begin(), points.times.end());
    const auto texts = std::count_if(points.kinds.begin(), points.kinds.end(), [](auto kind) {
        return (kind & PointColumns::text) != 0;
    });
    return {.first = first,
            .count = static_cast<std::int64_t>(points.size()),
            .least_step = *least_step,
            .greatest_step = *greatest_step,
            .least_time = *least_time,
            .greatest_time = *greatest_time,
            .ordered = is_ordered(points),
            .texts = texts};
}

Result<ChunkChange> plan_chunks(db::Connection& connection,
                                std::int64_t metric,
                                std::int64_t stored,
                                PointColumns points,
                                ChunkEncoder& encoder)
{
    ChunkChange change;
    stored = TRY(join_small_chunks(connection, metric, stored, points, change.joined));
    for (std::size_t first = 0; first < points.size();) {
        const auto last = end_of_chunk(points, first);
        PointColumns piece;
        const bool whole = first == 0 && last == points.size();
        if (!whole) piece.append(points, first, last);
        const auto& made = whole ? points : piece;
        change.made.push_back({make_head(stored + static_cast<std::int64_t>(first), made),
                               encoder.encode(made),
                               encode_summaries(made)});
        first = last;
    }
    return change;
}

Result<> store_chunks(db::Connection& writer, std::int64_t metric, const ChunkChange& change)
{
    auto remove = TRY(writer.prepare("DELETE FROM chunk WHERE row = ?"));
    for (const auto row : change.joined)
        TRY(remove.bind(row).run());
    auto insert = TRY(writer.prepare(
        "INSERT INTO chunk(metric, first, count, least_step, greatest_step, least_time,"
        " greatest_time, ordered, texts, data) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    for (const auto& [head, data, summaries] : change.made) {
        insert.bind(metric,
                    head.first,
                    head.count,
                    head.least_step,
                    head.greatest_step,
                    head.least_time,
                    head.greatest_time,
                    std::int64_t{head.ordered},
                    head.texts,
                    db::Blob{data});
        TRY(insert.run());
        TRY(store_summary(writer, writer.last_row(), metric, head, summaries));
    }
    return {};
}

Result<std::vector<ChunkHead>> read_heads(db::Connection& connection, std::int64_t metric)
{
    auto statement =
        TRY(connection.prepare("SELECT row, first, count, least_step, greatest_step, least_time,"
                               " greatest_time, ordered, texts FROM chunk WHERE metric = ?"
                               " ORDER BY first"));
    statement.bind(metric);
    std::vector<ChunkHead> heads;
    while (TRY(statement.step()))
        heads.push_back(head_of(statement));
    return heads;
}

Result<PointColumns> read_chunk(db::Connection& connection, std::int64_t row, ChunkDecoder& decoder)
{
    TRY(check_work());
    auto statement = TRY(connection.prepare("SELECT data FROM chunk WHERE row = ?"));
    statement.bind(row);
    if (!TRY(statement.step())) return fail(ErrorKind::internal, "chunk {} is gone", row);
    return decoder.decode(statement.bytes(0));
}

Result<> read_columns(db::Connection& connection,
                      std::int64_t metric,
                      const PointRange& range,
                      const OnColumns& on_columns)
{
    const auto after = std::max<std::int64_t>(range.after, 0);
    auto statement = TRY(connection.prepare(
        "SELECT first, count, data FROM chunk WHERE metric = ?1 AND first >= (SELECT"
        " coalesce(max(first), 0) FROM chunk WHERE metric = ?1 AND first <= ?2) ORDER BY first"));
    statement.bind(metric, after);
    ChunkDecoder decoder;
    for (auto left = range.limit; left > 0 && TRY(statement.step());) {
        TRY(check_work());
        const auto first = statement.integer(0);
        const auto count = statement.integer(1);
        if (first + count <= after) continue;
        const auto points = TRY(decoder.decode(statement.bytes(2)));
        if (static_cast<std::int64_t>(points.size()) != count)
            return fail(ErrorKind::damaged, "a chunk has {} points, not {}", points.size(), count);
        const auto from = std::max<std::int64_t>(after - first, 0);
        const auto to = left < count - from ? from + left : count;
        on_columns(points, static_cast<std::size_t>(from), static_cast<std::size_t>(to));
        left -= to - from;
    }
    return {};
}

}  // namespace ponk::store
