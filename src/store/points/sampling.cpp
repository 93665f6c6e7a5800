// SPDX-License-Identifier: Apache-2.0
#include "store/points/sampling.hpp"

#include "store/points/point_order.hpp"

#include <algorithm>

namespace ponk::store {

namespace {

// Chunks whose points lie behind those of the stretch before, in the order of steps.
struct Stretch {
    std::vector<ChunkHead> chunks;
    std::int64_t count = 0;
    // In their order; a single chunk that has them in that order by itself is not copied.
    std::vector<OrderedPoint> points = {};
    std::optional<PointColumns> chunk = std::nullopt;
};

std::tuple<std::int64_t, std::int64_t> beginning(const ChunkHead& head)
{
    return {head.least_step, head.least_time};
}
std::tuple<std::int64_t, std::int64_t> end(const ChunkHead& head)
{
    return {head.greatest_step, head.greatest_time};
}

std::vector<Stretch> stretches_of(std::vector<ChunkHead> heads)
{
    std::sort(heads.begin(), heads.end(), [](const ChunkHead& a, const ChunkHead& b) {
        return beginning(a) < beginning(b);
    });
    std::vector<Stretch> stretches;
    std::tuple<std::int64_t, std::int64_t> last;
    for (const auto& head : heads) {
        const bool joins = !stretches.empty() && beginning(head) <= last;
        if (!joins) stretches.emplace_back();
        stretches.back().chunks.push_back(head);
        last = joins ? std::max(last, end(head)) : end(head);
    }
    return stretches;
}

class Sampler {
public:
    Sampler(db::Connection& connection, const KeyPoints& key, const std::optional<StepRange>& range)
        : connection_(connection), key_(key), range_(range.value_or(StepRange{}))
    {
    }

    Result<std::vector<Stretch>> count()
    {
        auto heads = TRY(read_heads(connection_, key_));
        std::erase_if(heads, [this](const ChunkHead& head) {
            return head.greatest_step < range_.first || head.least_step > range_.last ||
                   head.texts == head.count;
        });
        auto stretches = stretches_of(std::move(heads));
        for (auto& stretch : stretches) {
            stretch.count = stretch.chunks.front().count;
            if (is_plain(stretch)) continue;
            TRY(load(stretch));
            stretch.count = static_cast<std::int64_t>(stretch.points.size());
        }
        return stretches;
    }

    // One of its points, by its place; they are read when the first is wanted.
    Result<OrderedPoint> point(Stretch& stretch, std::size_t place)
    {
        if (!is_plain(stretch)) {
            if (place < stretch.points.size()) return stretch.points[place];
        } else {
            if (!stretch.chunk)
                stretch.chunk = TRY(read_chunk(connection_, key_, stretch.chunks[0], decoder_));
            if (place < stretch.chunk->size()) return OrderedPoint(*stretch.chunk, place);
        }
        return fail(ErrorKind::damaged, "a chunk has fewer points than its header");
    }

private:
    // Those of several chunks, or of one that is not in order.
    Result<> load(Stretch& stretch)
    {
        for (const auto& head : stretch.chunks) {
            const auto columns = TRY(read_chunk(connection_, key_, head, decoder_));
            for (std::size_t i = 0; i < columns.size(); ++i) {
                if (!columns.is_text(i) && columns.steps[i] >= range_.first &&
                    columns.steps[i] <= range_.last)
                    stretch.points.emplace_back(columns, i);
            }
        }
        std::sort(stretch.points.begin(), stretch.points.end(), [](const auto& a, const auto& b) {
            return a.by_step() < b.by_step();
        });
        return {};
    }

    [[nodiscard]] bool is_plain(const Stretch& stretch) const
    {
        const auto& head = stretch.chunks.front();
        return stretch.chunks.size() == 1 && head.ordered && head.texts == 0 &&
               head.least_step >= range_.first && head.greatest_step <= range_.last;
    }

    db::Connection& connection_;
    const KeyPoints& key_;
    StepRange range_;
    ChunkDecoder decoder_;
};

}  // namespace

std::vector<std::int64_t> sampled_places(std::int64_t count, std::int64_t most)
{
    std::vector<std::int64_t> places;
    const auto groups = std::min(count, std::max<std::int64_t>(most, 1));
    if (groups <= 0) return places;
    const auto size = count / groups;
    const auto larger = count % groups;
    for (std::int64_t group = 0; group < groups; ++group)
        places.push_back(group * size + std::min(group, larger));
    places.back() = count - 1;
    return places;
}

Result<std::vector<model::MetricPoint>> sample_points(db::Connection& connection,
                                                      const KeyPoints& key,
                                                      const std::optional<StepRange>& range,
                                                      std::int64_t most)
{
    Sampler sampler(connection, key, range);
    auto stretches = TRY(sampler.count());
    std::int64_t count = 0;
    for (const auto& stretch : stretches)
        count += stretch.count;
    const auto places = sampled_places(count, most);
    std::vector<model::MetricPoint> taken;
    taken.reserve(places.size());
    auto next = places.begin();
    std::int64_t first = 0;
    for (auto& stretch : stretches) {
        const auto behind = first + stretch.count;
        for (; next != places.end() && *next < behind; ++next) {
            const auto point = TRY(sampler.point(stretch, static_cast<std::size_t>(*next - first)));
            taken.push_back(point.with_key(key.latest.point.key));
        }
        first = behind;
        stretch = {};
    }
    return taken;
}

}  // namespace ponk::store
