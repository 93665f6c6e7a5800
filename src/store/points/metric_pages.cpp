// SPDX-License-Identifier: Apache-2.0
#include "store/points/metric_pages.hpp"

#include "base/base64.hpp"
#include "store/points/packed_bytes.hpp"
#include "store/points/point_order.hpp"

#include <algorithm>

namespace ponk::store {

namespace {

constexpr std::size_t largest_page = std::size_t{1} << 40;

// The last point of a page. Old series may have the same point several times: `told` of those that
// are equal were on pages already.
struct Place {
    OrderedPoint last;
    std::uint64_t told = 0;
};

bool earlier(const OrderedPoint& a, const OrderedPoint& b)
{
    return a.by_time() < b.by_time();
}

std::string page_word(const Place& place)
{
    std::string bytes;
    put_signed(bytes, place.last.time);
    put_signed(bytes, place.last.step);
    put_fixed(bytes, bits_of(place.last.value));
    put_number(bytes, place.told);
    return to_base64(bytes, Base64::url);
}

Result<Place> parse_place(const std::string& word)
{
    const auto bytes = from_base64(word).value_or("");
    PackedReader in(bytes);
    const auto time = in.signed_number();
    const auto step = in.signed_number();
    const auto value = in.fixed();
    const auto told = in.number();
    if (!time || !step || !value || !told || !in.at_end() || *told > largest_page)
        return fail(ErrorKind::invalid_argument, "no page begins at '{}'", word.substr(0, 100));
    Place place;
    place.last.time = *time;
    place.last.step = *step;
    place.last.value = std::bit_cast<double>(*value);
    place.told = *told;
    return place;
}

// Whether the first `wanted` of all are among `points` when those that are missing have times from
// `time` on.
bool are_there(std::vector<OrderedPoint>& points, std::size_t wanted, std::int64_t time)
{
    if (points.size() < wanted) return false;
    const auto last = points.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
    std::nth_element(points.begin(), last, points.end(), earlier);
    return last->time < time;
}

// In their order: at least the first `wanted` that do not come before `place`.
Result<std::vector<OrderedPoint>> read_from(db::Connection& connection,
                                            const KeyPoints& key,
                                            const std::optional<Place>& place,
                                            std::size_t wanted)
{
    auto heads = TRY(read_heads(connection, key));
    std::erase_if(heads, [&place](const ChunkHead& head) {
        return head.texts == head.count || (place && head.greatest_time < place->last.time);
    });
    std::sort(heads.begin(), heads.end(), [](const ChunkHead& a, const ChunkHead& b) {
        return a.least_time < b.least_time;
    });
    ChunkDecoder decoder;
    std::vector<OrderedPoint> points;
    for (const auto& head : heads) {
        if (are_there(points, wanted, head.least_time)) break;
        const auto columns = TRY(read_chunk(connection, key, head, decoder));
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const OrderedPoint point(columns, i);
            if (!columns.is_text(i) && !(place && earlier(point, place->last)))
                points.push_back(point);
        }
    }
    std::sort(points.begin(), points.end(), earlier);
    return points;
}

}  // namespace

Result<MetricPage> read_page(db::Connection& connection,
                             const KeyPoints& key,
                             const std::string& after,
                             std::size_t limit)
{
    limit = std::clamp<std::size_t>(limit, 1, largest_page);
    const auto place = after.empty() ? std::nullopt : std::optional(TRY(parse_place(after)));
    const auto told = place ? place->told : 0;
    const auto points = TRY(read_from(connection, key, place, limit + told + 1));
    std::size_t first = 0;
    while (first < std::min(points.size(), told) && !earlier(place->last, points[first]))
        ++first;
    const auto last = std::min(points.size(), first + limit);
    MetricPage page;
    page.points.reserve(last - first);
    for (auto at = first; at < last; ++at)
        page.points.push_back(points[at].with_key(key.latest.point.key));
    if (last == points.size()) return page;
    const auto& end = points[last - 1];
    const auto equal = std::equal_range(points.begin(), points.end(), end, earlier);
    page.next = page_word({end,
                           static_cast<std::uint64_t>(points.begin() - equal.first +
                                                      static_cast<std::ptrdiff_t>(last))});
    return page;
}

}  // namespace ponk::store
