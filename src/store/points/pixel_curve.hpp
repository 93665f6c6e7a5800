// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/points/block_summary.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace ponk::store {

// What the points of a series are drawn over: their steps, or their times (milliseconds) since its
// earliest or since 1970.
enum class PixelAxis { step, relative, wall };
struct AxisEnds {
    std::int64_t from = 0;
    std::int64_t to = 0;
};

// The part of an axis that a picture shows, both ends included, in at most so many columns.
struct PixelWindow {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::size_t width = 16;
};

// What a picture of a series shows, and what is known of all its points.
struct PixelRows {
    std::vector<std::int64_t> x;
    std::vector<double> y;
    std::vector<double> smooth;                               // empty without smoothing
    std::int64_t count = 0;                                   // of all points that are numbers
    std::int64_t nonfinite = 0;                               // of these: NaN and infinities
    double lowest = std::numeric_limits<double>::infinity();  // of the finite ones
    double highest = -std::numeric_limits<double>::infinity();
    double last = 0;
};

// Columns are as wide as the least power of two with which a window has at most its number of them,
// wherever it begins: two to the power of this. So a window that moves or grows keeps its columns.
unsigned column_shift(const PixelWindow& window);

// Reduces a series, point by point in the order of x, to what its picture shows: of each column
// the first point, the last, the lowest and the highest, and the first that is NaN or an infinity;
// so no peak is ever lost, and the picture is the same each time. Besides the last point before the
// window and the first behind it, so that lines reach the edges. Smoothing (exponential, without
// the bias of its beginning) counts all points. Not thread-safe.
class PixelCurve {
public:
    // `weight` of what was before: 0 for no smoothing, less than 1. Where x counts from an
    // `origin`, columns begin at multiples of their width all the same, by `x + origin`.
    PixelCurve(const PixelWindow& window, double weight, std::uint64_t origin = 0);
    // False when x is before that of the point before: nothing was done.
    bool add(std::int64_t x, double y);
    // The same as all points of the summary one by one; its x are without the origin. False when it
    // does not say enough for this picture, or its points are not in order: nothing was done.
    bool add(const BlockSummary& summary);
    PixelRows finish();

private:
    struct Seen {
        std::int64_t number = 0;  // 0: none
        std::int64_t x = 0;
        double y = 0;
        double smooth = 0;
    };
    enum class Part { before, inside, behind };

    [[nodiscard]] std::uint64_t column_of(std::int64_t x) const
    {
        return (static_cast<std::uint64_t>(x) + phase_) >> shift_;
    }
    [[nodiscard]] std::int64_t shown(std::int64_t x) const
    {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) - origin_);
    }
    [[nodiscard]] bool is_cut(const PointBlock& block) const;
    double smoothed(double y);
    void enter(std::int64_t x);
    void inside(const Seen& seen);
    void inside(const PointBlock& block, std::int64_t before);
    void leave(const Seen& seen);
    void close_column();
    void keep(const Seen& seen);

    PixelWindow window_;
    double weight_;
    std::uint64_t origin_;
    std::uint64_t phase_;  // what makes x a number without sign, with the origin
    unsigned shift_;
    Part part_ = Part::before;
    Seen before_;
    Seen first_, last_, low_, high_;
    std::array<Seen, 3> odd_;  // NaN, infinity, minus infinity
    bool any_odd_ = false;
    std::uint64_t column_ = 0;
    std::int64_t last_x_ = std::numeric_limits<std::int64_t>::min();
    double sum_ = 0;
    double bias_ = 1;  // weight to the number of points
    PixelRows rows_;
};

}  // namespace ponk::store
