// SPDX-License-Identifier: Apache-2.0
#include "store/points/summary_row.hpp"

#include "base/work_budget.hpp"

#include <utility>
#include <vector>

namespace ponk::store {

namespace {

struct Missing {
    std::int64_t chunk = 0;
    EncodedSummaries summaries;
};

Result<std::vector<Missing>> summarize_some(db::Connection& reader)
{
    constexpr std::size_t at_once = 64;
    auto rows = TRY(reader.prepare("SELECT chunk, data FROM chunk_summary JOIN chunk"
                                   " ON row = chunk WHERE steps IS NULL LIMIT ?"));
    rows.bind(static_cast<std::int64_t>(at_once));
    ChunkDecoder decoder;
    std::vector<Missing> some;
    while (TRY(rows.step())) {
        // Who reads the points of damaged bytes hears of it; here they have no summary.
        const auto points = decoder.decode(rows.bytes(1));
        some.push_back({rows.integer(0), points ? encode_summaries(*points) : EncodedSummaries()});
    }
    return some;
}

// A chunk may be gone by now; another one of its number has a summary.
Result<> store_some(db::Connection& writer, const std::vector<Missing>& some)
{
    auto update = TRY(writer.prepare(
        "UPDATE chunk_summary SET steps = ?, times = ? WHERE chunk = ? AND steps IS NULL"));
    for (const auto& [chunk, summaries] : some) {
        update.bind(db::Blob{summaries.steps}, db::Blob{summaries.times}, chunk);
        TRY(update.run());
    }
    return {};
}

}  // namespace

Result<> store_summary(db::Connection& writer,
                       std::int64_t chunk,
                       std::int64_t metric,
                       const ChunkHead& head,
                       const EncodedSummaries& summaries)
{
    auto insert = TRY(writer.prepare(
        "INSERT INTO chunk_summary(chunk, metric, first, least_step, greatest_step, least_time,"
        " greatest_time, steps, times) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.bind(chunk,
                metric,
                head.first,
                head.least_step,
                head.greatest_step,
                head.least_time,
                head.greatest_time,
                db::Blob{summaries.steps},
                db::Blob{summaries.times});
    return insert.run();
}

Result<std::optional<AxisEnds>>
read_ends(db::Connection& connection, std::int64_t metric, SummaryAxis axis)
{
    auto statement = TRY(connection.prepare(
        axis == SummaryAxis::step
            ? "SELECT min(least_step), max(greatest_step) FROM chunk_summary WHERE metric = ?"
            : "SELECT min(least_time), max(greatest_time) FROM chunk_summary WHERE metric = ?"));
    statement.bind(metric);
    if (!TRY(statement.step()) || statement.is_null(0)) return std::optional<AxisEnds>();
    return std::optional(AxisEnds{statement.integer(0), statement.integer(1)});
}

Result<bool> add_chunks(db::Connection& connection,
                        std::int64_t metric,
                        SummaryAxis axis,
                        std::uint64_t origin,
                        PixelCurve& curve)
{
    const bool steps = axis == SummaryAxis::step;
    auto summaries = TRY(connection.prepare(
        steps ? "SELECT chunk, steps FROM chunk_summary WHERE metric = ? ORDER BY first"
              : "SELECT chunk, times FROM chunk_summary WHERE metric = ? ORDER BY first"));
    auto data = TRY(connection.prepare("SELECT data FROM chunk WHERE row = ?"));
    ChunkDecoder decoder;
    summaries.bind(metric);
    while (TRY(summaries.step())) {
        TRY(check_work());
        if (const auto bytes = summaries.bytes(1); !bytes.empty()) {
            // A damaged summary costs time, not the picture: the points say all that it does.
            if (const auto summary = decode_summary(bytes); summary && curve.add(*summary))
                continue;
        }
        const auto chunk = summaries.integer(0);
        data.bind(chunk);
        if (!TRY(data.step())) return fail(ErrorKind::damaged, "chunk {} is gone", chunk);
        const auto* numbers = TRY(decoder.decode_numbers(
            data.bytes(0), steps ? ChunkDecoder::Axis::step : ChunkDecoder::Axis::time));
        for (std::size_t at = 0; at < numbers->x.size(); ++at) {
            const auto x = static_cast<std::uint64_t>(numbers->x[at]) - origin;
            if (!curve.add(static_cast<std::int64_t>(x), numbers->y[at])) return false;
        }
        data.reset();
    }
    return true;
}

Result<> make_missing_summaries(db::Database& database)
{
    for (;;) {
        const auto some = TRY(database.read(summarize_some));
        if (some.empty()) return {};
        TRY(database
                .write(db::Durability::process,
                       [&](db::Connection& writer) { return store_some(writer, some); })
                .map_error(while_doing("make summaries of points")));
    }
}

}  // namespace ponk::store
