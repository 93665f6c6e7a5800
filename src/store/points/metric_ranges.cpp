// SPDX-License-Identifier: Apache-2.0
#include "store/points/metric_ranges.hpp"

#include "store/points/chunk_codec.hpp"
#include "store/records.hpp"

#include <utility>
#include <vector>

namespace ponk::store {

namespace {

struct Missing {
    std::int64_t row = 0;
    std::int64_t count = 0;
    NumberRange range;
};

Result<> read_range(db::Connection& reader, ChunkDecoder& decoder, Missing& metric)
{
    auto chunks = TRY(reader.prepare("SELECT data FROM chunk WHERE metric = ?"));
    chunks.bind(metric.row);
    while (TRY(chunks.step())) {
        // Who reads the points of damaged bytes hears of it; here they say nothing.
        const auto points = decoder.decode(chunks.bytes(0));
        for (std::size_t i = 0; points && i < points->size(); ++i) {
            if (!points->is_text(i)) metric.range.take(points->values[i]);
        }
    }
    return {};
}

Result<std::vector<Missing>> read_some(db::Connection& reader)
{
    constexpr std::int64_t at_once = 64;
    auto rows = TRY(reader.prepare("SELECT row, count FROM metric INDEXED BY metric_without_range"
                                   " WHERE low IS NULL LIMIT ?"));
    rows.bind(at_once);
    std::vector<Missing> some;
    while (TRY(rows.step()))
        some.push_back({rows.integer(0), rows.integer(1), {}});
    ChunkDecoder decoder;
    for (auto& metric : some)
        TRY(read_range(reader, decoder, metric));
    return some;
}

// One that got points meanwhile is looked at again.
Result<> store_some(db::Connection& writer, const std::vector<Missing>& some)
{
    auto update = TRY(writer.prepare(
        "UPDATE metric SET low = ?, high = ? WHERE row = ? AND count = ? AND low IS NULL"));
    for (const auto& [row, count, range] : some)
        TRY(update.bind(range.low, range.high, row, count).run());
    return {};
}

}  // namespace

Result<> make_missing_ranges(db::Database& database)
{
    for (;;) {
        const auto some = TRY(database.read(read_some));
        if (some.empty()) return {};
        TRY(database
                .write(db::Durability::process,
                       [&](db::Connection& writer) { return store_some(writer, some); })
                .map_error(while_doing("look up ranges of metrics")));
    }
}

}  // namespace ponk::store
