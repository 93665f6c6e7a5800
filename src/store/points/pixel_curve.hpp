// SPDX-License-Identifier: Apache-2.0
#pragma once

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

// The part of an axis that a picture shows, both ends included, in so many columns of pixels.
struct PixelWindow {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::size_t width = 1;
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

// Reduces a series, point by point in the order of x, to what its picture shows: of each column of
// pixels the first point, the last, the lowest and the highest, and the first that is NaN or an
// infinity; so no peak is ever lost, and the picture is the same each time. Besides the last point
// before the window and the first behind it, so that lines reach the edges. Smoothing (exponential,
// without the bias of its beginning) counts all points. Not thread-safe.
class PixelCurve {
public:
    // `weight` of what was before: 0 for no smoothing, less than 1.
    PixelCurve(const PixelWindow& window, double weight);
    // False when x is before that of the point before: nothing was done.
    bool add(std::int64_t x, double y);
    PixelRows finish();

private:
    struct Seen {
        std::int64_t number = 0;  // 0: none
        std::int64_t x = 0;
        double y = 0;
        double smooth = 0;
    };
    enum class Part { before, inside, behind };

    double smoothed(double y);
    void inside(const Seen& seen);
    void close_column();
    void keep(const Seen& seen);

    PixelWindow window_;
    double weight_;
    std::vector<std::uint64_t> edges_;  // where columns begin, from `from` on
    Part part_ = Part::before;
    Seen before_;
    Seen first_, last_, low_, high_;
    std::array<Seen, 3> odd_;  // NaN, infinity, minus infinity
    std::size_t column_ = 0;
    std::int64_t last_x_ = std::numeric_limits<std::int64_t>::min();
    double sum_ = 0;
    double bias_ = 1;  // weight to the number of points
    PixelRows rows_;
};

}  // namespace ponk::store
