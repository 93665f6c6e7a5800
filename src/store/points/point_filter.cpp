// SPDX-License-Identifier: Apache-2.0
#include "store/points/point_filter.hpp"

#include "base/keyed_hash.hpp"
#include "store/points/chunk_row.hpp"
#include "store/points/packed_bytes.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_set>

namespace ponk::store {

namespace {

// What makes two points one.
struct Identity {
    std::int64_t step = 0;
    std::int64_t time = 0;
    std::uint64_t value = 0;
    std::string text;
    bool is_text = false;

    Identity(const PointColumns& points, std::size_t at)
        : step(points.steps[at]), time(points.times[at]), is_text(points.is_text(at))
    {
        if (is_text) {
            text = points.texts[at];
        } else {
            value = bits_of(points.values[at] + 0.0);  // -0.0 is 0.0
        }
    }
    friend bool operator==(const Identity&, const Identity&) = default;
};

struct IdentityHash {
    std::size_t operator()(const Identity& one) const
    {
        const auto hash = keyed_hash(
            static_cast<std::uint64_t>(one.step), static_cast<std::uint64_t>(one.time), one.value);
        return one.text.empty() ? hash : hash ^ keyed_hash(one.text);
    }
};

// Steps and times of those points that may be stored already.
struct Host {
    std::int64_t least_step = std::numeric_limits<std::int64_t>::max();
    std::int64_t greatest_step = std::numeric_limits<std::int64_t>::min();
    std::int64_t least_time = std::numeric_limits<std::int64_t>::max();
    std::int64_t greatest_time = std::numeric_limits<std::int64_t>::min();

    [[nodiscard]] bool empty() const { return least_step > greatest_step; }
    void add(std::int64_t step, std::int64_t time)
    {
        least_step = std::min(least_step, step);
        greatest_step = std::max(greatest_step, step);
        least_time = std::min(least_time, time);
        greatest_time = std::max(greatest_time, time);
    }
    [[nodiscard]] bool has(std::int64_t step, std::int64_t time) const
    {
        return step >= least_step && step <= greatest_step && time >= least_time &&
               time <= greatest_time;
    }
    [[nodiscard]] bool meets(const ChunkHead& head) const
    {
        return head.least_step <= greatest_step && head.greatest_step >= least_step &&
               head.least_time <= greatest_time && head.greatest_time >= least_time;
    }
};

struct Suspects {
    Host stored;            // may be among what is stored
    bool ascending = true;  // each behind the one before it
};

Suspects find_suspects(const OpenMetric& metric, const PointColumns& points)
{
    Suspects found;
    const auto& latest = metric.latest;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto when = std::tuple(points.steps[i], points.times[i]);
        if (latest.count > 0 && when <= std::tuple(latest.point.step, latest.point.time))
            found.stored.add(points.steps[i], points.times[i]);
        if (i > 0 && when <= std::tuple(points.steps[i - 1], points.times[i - 1]))
            found.ascending = false;
    }
    return found;
}

using Known = std::unordered_set<Identity, IdentityHash>;

Result<> add_stored(db::Connection& connection, std::int64_t metric, const Host& host, Known& known)
{
    ChunkDecoder decoder;
    for (const auto& head : TRY(read_heads(connection, metric))) {
        if (!host.meets(head)) continue;
        const auto points = TRY(read_chunk(connection, head.row, decoder));
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (host.has(points.steps[i], points.times[i])) known.emplace(points, i);
        }
    }
    return {};
}

}  // namespace

Result<PointColumns>
only_new(db::Connection& connection, const OpenMetric& metric, const PointColumns& points)
{
    const auto suspects = find_suspects(metric, points);
    if (suspects.ascending && suspects.stored.empty()) return points;
    Known known;
    if (!suspects.stored.empty()) TRY(add_stored(connection, metric.row, suspects.stored, known));
    PointColumns kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (known.emplace(points, i).second) kept.append(points, i, i + 1);
    }
    return kept;
}

}  // namespace ponk::store
