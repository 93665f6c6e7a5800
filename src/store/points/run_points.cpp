// SPDX-License-Identifier: Apache-2.0
#include "store/points/run_points.hpp"

#include "store/points/metric_row.hpp"
#include "store/points/series.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

namespace ponk::store {

using model::MetricPoint;

namespace {

// Keys that only the tail has come behind all others.
constexpr std::int64_t place_in_tail = std::numeric_limits<std::int64_t>::max() / 2;

KeyPoints key_points(GrownKey grown)
{
    if (!grown.before) grown.latest.place = place_in_tail;
    return {grown.before ? grown.before->row : 0, std::move(grown.latest), std::move(grown.added)};
}

std::int64_t tail_size(const KeyPoints& key)
{
    return static_cast<std::int64_t>(key.tail.size());
}

// Fetches the lists that are shown as such.
Result<> add_lists(db::Connection& connection,
                   std::int64_t run,
                   const std::map<std::string, KeyPoints>& in_tail,
                   std::vector<LatestMetric>& metrics)
{
    auto room = longest_lists;
    for (auto& latest : metrics) {
        if (latest.point.form != MetricPoint::Form::list || latest.count > longest_list) continue;
        room -= latest.count;
        if (room < 0) break;
        KeyPoints compacted;
        const auto found = in_tail.find(latest.point.key);
        if (found == in_tail.end()) {
            const auto open = TRY(find_open_metric(connection, run, latest.point.key));
            if (open) compacted = {open->row, open->latest, {}};
        }
        TRY(read_points(connection,
                        found == in_tail.end() ? compacted : found->second,
                        {},
                        [&latest](MetricPoint point) { latest.list.push_back(std::move(point)); }));
    }
    return {};
}

// Puts those of the tail among those of chunks; `all` stays in the order of keys.
Result<std::map<std::string, KeyPoints>> add_tail(db::Connection& connection,
                                                  std::int64_t run,
                                                  const PointsByKey& points,
                                                  const MetricRange& range,
                                                  std::vector<LatestMetric>& all)
{
    const auto by_key = [](const LatestMetric& a, const LatestMetric& b) {
        return a.point.key < b.point.key;
    };
    std::map<std::string, KeyPoints> in_tail;
    std::int64_t number = 0;
    for (const auto& key : points.keys()) {
        ++number;
        if (range.after && key.key <= *range.after) continue;
        if (all.size() >= range.limit && key.key > all.back().point.key) continue;
        auto grown = key_points(TRY(grow_key(connection, run, key)));
        if (grown.row == 0) grown.latest.place += number;
        in_tail.emplace(key.key, std::move(grown));
    }
    const auto compacted = static_cast<std::ptrdiff_t>(all.size());
    for (const auto& [name, key] : in_tail) {
        const auto end = all.begin() + compacted;
        const auto place = std::lower_bound(all.begin(), end, key.latest, by_key);
        if (place != end && place->point.key == name) {
            *place = key.latest;
        } else {
            all.push_back(key.latest);
        }
    }
    std::inplace_merge(all.begin(), all.begin() + compacted, all.end(), by_key);
    if (all.size() > range.limit) all.resize(range.limit);
    return in_tail;
}

}  // namespace

Result<std::optional<KeyPoints>> find_key(db::Connection& connection,
                                          const TailReader& tail,
                                          std::int64_t run,
                                          const std::string& key)
{
    const auto points = TRY(tail.points(connection, run, std::span(&key, 1)));
    if (!points.empty())
        return std::optional(key_points(TRY(grow_key(connection, run, points.keys().front()))));
    auto open = TRY(find_open_metric(connection, run, key));
    if (!open) return std::optional<KeyPoints>();
    return std::optional(KeyPoints{open->row, std::move(open->latest), {}});
}

Result<std::vector<ChunkHead>> read_heads(db::Connection& connection, const KeyPoints& key)
{
    auto heads = key.row == 0 ? std::vector<ChunkHead>() : TRY(read_heads(connection, key.row));
    if (!key.tail.empty()) heads.push_back(make_head(key.latest.count - tail_size(key), key.tail));
    return heads;
}

Result<PointColumns> read_chunk(db::Connection& connection,
                                const KeyPoints& key,
                                const ChunkHead& head,
                                ChunkDecoder& decoder)
{
    return head.row == 0 ? key.tail : read_chunk(connection, head.row, decoder);
}

Result<> read_columns(db::Connection& connection,
                      const KeyPoints& key,
                      const PointRange& range,
                      const OnColumns& on_columns)
{
    auto left = range.limit;
    if (key.row != 0) {
        TRY(read_columns(connection,
                         key.row,
                         range,
                         [&](const PointColumns& points, std::size_t first, std::size_t last) {
                             left -= static_cast<std::int64_t>(last - first);
                             on_columns(points, first, last);
                         }));
    }
    const auto compacted = key.latest.count - tail_size(key);
    const auto from = std::max<std::int64_t>(range.after - compacted, 0);
    const auto to = left < tail_size(key) - from ? from + left : tail_size(key);
    if (from < to)
        on_columns(key.tail, static_cast<std::size_t>(from), static_cast<std::size_t>(to));
    return {};
}

Result<> read_points(db::Connection& connection,
                     const KeyPoints& key,
                     const PointRange& range,
                     const OnPoint& on_point)
{
    return read_columns(connection,
                        key,
                        range,
                        [&](const PointColumns& points, std::size_t first, std::size_t last) {
                            for (auto at = first; at < last; ++at)
                                on_point(points.point(key.latest.point.key, at));
                        });
}

Result<std::vector<LatestMetric>> read_latest(db::Connection& connection,
                                              const TailReader& tail,
                                              std::int64_t run,
                                              const MetricRange& range)
{
    const auto points = TRY(tail.points(connection, run));
    auto all = TRY(read_compacted(connection, run, range));
    const auto in_tail = TRY(add_tail(connection, run, points, range, all));
    TRY(add_lists(connection, run, in_tail, all));
    return all;
}

Result<std::int64_t>
count_keys(db::Connection& connection, const TailReader& tail, std::int64_t run)
{
    auto statement = TRY(connection.prepare("SELECT count(*) FROM metric WHERE run = ?"));
    statement.bind(run);
    auto count = TRY(statement.step()) ? statement.integer(0) : 0;
    const auto points = TRY(tail.points(connection, run));
    for (const auto& key : points.keys()) {
        if (!TRY(find_open_metric(connection, run, key.key))) ++count;
    }
    return count;
}

}  // namespace ponk::store
