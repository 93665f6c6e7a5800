// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/points/block_summary.hpp"
#include "store/points/packed_bytes.hpp"
#include "store/points/pixel_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

// For tests: series and windows of all shapes.
namespace ponk::store {

constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr auto infinite = std::numeric_limits<double>::infinity();

inline double random_value(std::mt19937_64& random, unsigned shape)
{
    if (shape % 5 == 4 && random() % 50 == 0) {
        const double odd[] = {not_a_number, infinite, -infinite};
        return odd[random() % 3];
    }
    switch (shape % 4) {
    case 0:  // many are equal, and both zeros are there
        return random() % 2 == 0 ? -0.0 : double(random() % 3);
    case 1:
        return double(float(double(random() % 1'000'000) / 997));
    default:
        return double(random()) / 3 - 1e18;
    }
}

// Steps that go up evenly, repeat, jump, lie beyond 2^53 or are out of order; a few texts.
inline PointColumns random_points(std::mt19937_64& random, std::size_t count)
{
    const auto shape = static_cast<unsigned>(random());
    const std::uint64_t strides[] = {1, 1, 10, 1000, std::uint64_t{1} << 40U};
    const auto stride = strides[shape / 7 % 5];
    std::int64_t step = shape % 3 == 0 ? (std::int64_t{1} << 60) + 1 : shape % 3 == 1 ? -5000 : 0;
    std::int64_t time = 1'740'000'000'000;
    PointColumns points;
    for (std::size_t i = 0; i < count; ++i) {
        if (shape / 11 % 3 != 0 || random() % 3 != 0)
            step +=
                static_cast<std::int64_t>(shape / 13 % 4 == 0 ? random() % (2 * stride) : stride);
        time += static_cast<std::int64_t>(random() % 200);
        const bool back = shape / 17 % 6 == 0 && random() % 2000 == 0;
        model::MetricPoint point;
        point.value = random_value(random, shape / 19);
        point.step = back ? step - 3 : step;
        point.time = back ? time - 500 : time;
        if (shape / 23 % 7 == 0 && random() % 40 == 0) point.text = "word";
        points.add(point);
    }
    return points;
}

// Around, inside of and beside what there is.
inline PixelWindow
random_window(std::mt19937_64& random, const std::vector<std::int64_t>& all, std::uint64_t origin)
{
    const auto one = [&]() -> std::int64_t {
        const auto x = all[random() % all.size()] + static_cast<std::int64_t>(random() % 3) - 1;
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) - origin);
    };
    const std::size_t widths[] = {16, 100, 787, 800, 4096};
    PixelWindow window{one(), one(), widths[random() % 5]};
    if (random() % 2 == 0) {
        const auto [least, greatest] = std::minmax_element(all.begin(), all.end());
        window.from = static_cast<std::int64_t>(static_cast<std::uint64_t>(*least) - origin);
        window.to = static_cast<std::int64_t>(static_cast<std::uint64_t>(*greatest) - origin);
    }
    if (window.from > window.to) std::swap(window.from, window.to);
    return window;
}

inline bool
add_points(PixelCurve& curve, const PointColumns& points, SummaryAxis axis, std::uint64_t origin)
{
    const auto& all = axis == SummaryAxis::step ? points.steps : points.times;
    for (std::size_t at = 0; at < points.size(); ++at) {
        if (points.is_text(at)) continue;
        const auto x = static_cast<std::uint64_t>(all[at]) - origin;
        if (!curve.add(static_cast<std::int64_t>(x), points.values[at])) return false;
    }
    return true;
}

// Byte by byte.
inline std::vector<std::uint64_t> bits(const std::vector<double>& values)
{
    std::vector<std::uint64_t> all(values.size());
    std::transform(values.begin(), values.end(), all.begin(), bits_of);
    return all;
}

inline void expect_same(const PixelRows& plain, const PixelRows& quick, unsigned seed)
{
    EXPECT_EQ(plain.x, quick.x) << seed;
    EXPECT_EQ(bits(plain.y), bits(quick.y)) << seed;
    EXPECT_EQ(bits(plain.smooth), bits(quick.smooth)) << seed;
    EXPECT_EQ(plain.count, quick.count) << seed;
    EXPECT_EQ(plain.nonfinite, quick.nonfinite) << seed;
    EXPECT_EQ(bits({plain.lowest, plain.highest, plain.last}),
              bits({quick.lowest, quick.highest, quick.last}))
        << seed;
}

}  // namespace ponk::store
