// SPDX-License-Identifier: Apache-2.0
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/points/run_points.hpp"
#include "store/points/summary_row.hpp"
#include "store/rows/run_row.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ponk::store {

namespace {

constexpr std::int64_t most_to_sort = 20'000'000;

SummaryAxis stored_axis(PixelAxis axis)
{
    return axis == PixelAxis::step ? SummaryAxis::step : SummaryAxis::time;
}

// Of chunks and tail, without an origin.
Result<std::optional<AxisEnds>>
ends_of(db::Connection& reader, const KeyPoints& key, PixelAxis axis)
{
    auto ends = TRY(read_ends(reader, key.row, stored_axis(axis)));
    if (key.tail.empty()) return ends;
    const auto& all = axis == PixelAxis::step ? key.tail.steps : key.tail.times;
    const auto [least, greatest] = std::minmax_element(all.begin(), all.end());
    if (!ends) return std::optional(AxisEnds{*least, *greatest});
    return std::optional(AxisEnds{std::min(ends->from, *least), std::max(ends->to, *greatest)});
}

// The x of points, from which the whole axis is known.
struct Axis {
    PixelAxis axis;
    std::uint64_t origin = 0;

    [[nodiscard]] std::int64_t of(const PointColumns& points, std::size_t at) const
    {
        if (axis == PixelAxis::step) return points.steps[at];
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(points.times[at]) - origin);
    }
};

// False when the points are not in the order of x.
Result<bool>
add_all(db::Connection& reader, const KeyPoints& key, const Axis& axis, PixelCurve& curve)
{
    if (!TRY(add_chunks(reader, key.row, stored_axis(axis.axis), axis.origin, curve))) return false;
    for (std::size_t at = 0; at < key.tail.size(); ++at) {
        if (!key.tail.is_text(at) && !curve.add(axis.of(key.tail, at), key.tail.values[at]))
            return false;
    }
    return true;
}

// For series whose points did not come in the order of x.
Result<PixelRows>
sorted_pixels(db::Connection& reader, const KeyPoints& key, const Axis& axis, PixelCurve curve)
{
    if (key.latest.count > most_to_sort) {
        return fail(ErrorKind::invalid_argument,
                    "the {} points of '{}' did not come in order, and are too many to sort",
                    key.latest.count,
                    key.latest.point.key);
    }
    std::vector<std::pair<std::int64_t, double>> points;
    points.reserve(static_cast<std::size_t>(key.latest.count));
    TRY(read_columns(
        reader, key, {}, [&](const PointColumns& some, std::size_t first, std::size_t last) {
            for (auto at = first; at < last; ++at) {
                if (!some.is_text(at)) points.emplace_back(axis.of(some, at), some.values[at]);
            }
        }));
    std::stable_sort(points.begin(), points.end(), [](const auto& left, const auto& right) {
        return left.first < right.first;
    });
    for (const auto& [x, y] : points)
        curve.add(x, y);
    return curve.finish();
}

}  // namespace

Result<std::optional<AxisEnds>>
History::metric_ends(const RunId& id, const std::string& key, PixelAxis axis) const
{
    return impl_->read(
        [&](db::Connection& reader, const TailReader& tail) -> Result<std::optional<AxisEnds>> {
            const auto found = TRY(find_key(reader, tail, TRY(get_run_row(reader, id)), key));
            if (!found) return std::optional<AxisEnds>();
            auto ends = TRY(ends_of(reader, *found, axis));
            if (ends && axis == PixelAxis::relative) {
                // Times that clients made up may be as far apart as two numbers can be.
                const auto length =
                    static_cast<std::uint64_t>(ends->to) - static_cast<std::uint64_t>(ends->from);
                constexpr auto most = std::numeric_limits<std::int64_t>::max();
                ends = AxisEnds{0,
                                length > static_cast<std::uint64_t>(most)
                                    ? most
                                    : static_cast<std::int64_t>(length)};
            }
            return ends;
        });
}

Result<std::optional<PixelRows>> History::metric_pixels(const RunId& id,
                                                        const std::string& key,
                                                        PixelAxis axis,
                                                        const PixelWindow& window,
                                                        double smoothing) const
{
    return impl_->read(
        [&](db::Connection& reader, const TailReader& tail) -> Result<std::optional<PixelRows>> {
            const auto found = TRY(find_key(reader, tail, TRY(get_run_row(reader, id)), key));
            if (!found) return std::optional<PixelRows>();
            Axis x{axis};
            if (axis == PixelAxis::relative) {
                const auto ends = TRY(ends_of(reader, *found, axis));
                if (ends) x.origin = static_cast<std::uint64_t>(ends->from);
            }
            PixelCurve curve(window, smoothing, x.origin);
            if (TRY(add_all(reader, *found, x, curve))) return std::optional(curve.finish());
            return std::optional(
                TRY(sorted_pixels(reader, *found, x, PixelCurve(window, smoothing, x.origin))));
        });
}

}  // namespace ponk::store
