// SPDX-License-Identifier: Apache-2.0
#include "store/points/pixel_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace ponk::store {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(PixelCurves, NoPlantedSpikeIsLost)
{
    const PixelWindow window{0, 999'999, 800};
    PixelCurve curve(window, 0);
    const auto column = [&](std::int64_t x) { return x >> column_shift(window); };
    std::set<std::int64_t> planted;
    for (std::int64_t spike = 0; spike < 1000; ++spike)
        planted.insert((spike * 7919 + 13) % 1'000'000);
    for (std::int64_t x = 0; x < 1'000'000; ++x) {
        const bool is_spike = planted.contains(x);
        ASSERT_TRUE(curve.add(x, is_spike ? (x % 2 == 0 ? 1e6 : -1e6) : std::sin(double(x))));
    }
    const auto rows = curve.finish();
    EXPECT_LE(rows.x.size(), 800U * 4);
    // A column with spikes shows one at its height.
    std::set<std::int64_t> up;
    std::set<std::int64_t> down;
    for (std::size_t i = 0; i < rows.x.size(); ++i) {
        if (rows.y[i] == 1e6) up.insert(column(rows.x[i]));
        if (rows.y[i] == -1e6) down.insert(column(rows.x[i]));
    }
    for (const auto x : planted)
        EXPECT_TRUE((x % 2 == 0 ? up : down).contains(column(x))) << x;
    EXPECT_EQ(rows.count, 1'000'000);
    EXPECT_EQ(rows.highest, 1e6);
    EXPECT_EQ(rows.lowest, -1e6);
}

TEST(PixelCurves, FirstLastLowestAndHighestOfEachColumnComeInOrder)
{
    PixelCurve curve({0, 31, 4}, 0);
    for (std::int64_t x = 0; x < 32; ++x)
        ASSERT_TRUE(curve.add(x, x == 3 ? 9.0 : x == 5 ? -9.0 : 1.0));
    const auto rows = curve.finish();
    EXPECT_EQ(rows.x, (std::vector<std::int64_t>{0, 3, 5, 15, 16, 31}));
    EXPECT_EQ(rows.y, (std::vector<double>{1, 9, -9, 1, 1, 1}));
    EXPECT_TRUE(rows.smooth.empty());
}

// At most as many as asked for, and more than half of them, but for what a window cuts off.
TEST(PixelCurves, ColumnsAreAPowerOfTwoAndStayWhenAWindowMoves)
{
    using limits = std::numeric_limits<std::int64_t>;
    EXPECT_EQ(column_shift({0, 99'999, 800}), 7U);
    EXPECT_EQ(column_shift({0, 13, 16}), 0U);
    EXPECT_EQ(column_shift({5, 20, 16}), 1U);
    EXPECT_EQ(column_shift({limits::min(), limits::max(), 16}), 61U);
    EXPECT_EQ(column_shift({7, 7, 1}), 0U);
    const auto inner = [](std::int64_t from) {
        const PixelWindow window{from, from + 9'999, 100};
        PixelCurve curve(window, 0);
        for (std::int64_t x = 0; x < 30'000; ++x)
            EXPECT_TRUE(curve.add(x, double(x * 7919 % 1009)));
        const auto rows = curve.finish();
        std::set<std::int64_t> shown;
        for (const auto x : rows.x) {
            if (x >= 9'000 && x < 11'000) shown.insert(x);
        }
        return shown;
    };
    EXPECT_EQ(inner(3'333), inner(7'171));
}

TEST(PixelCurves, LinesReachTheEdgesOfTheWindow)
{
    PixelCurve curve({100, 200, 10}, 0);
    for (const std::int64_t x : {10, 90, 150, 210, 300})
        ASSERT_TRUE(curve.add(x, double(x)));
    EXPECT_EQ(curve.finish().x, (std::vector<std::int64_t>{90, 150, 210}));
    PixelCurve across({100, 200, 10}, 0);
    for (const std::int64_t x : {10, 90, 210, 300})
        ASSERT_TRUE(across.add(x, double(x)));
    EXPECT_EQ(across.finish().x, (std::vector<std::int64_t>{90, 210}));
    PixelCurve behind({400, 500, 10}, 0);
    ASSERT_TRUE(behind.add(10, 1));
    const auto rows = behind.finish();
    EXPECT_EQ(rows.x, std::vector<std::int64_t>{10});
    EXPECT_EQ(rows.last, 1);
}

TEST(PixelCurves, WhatIsNoFiniteNumberIsShownOnceInAColumn)
{
    PixelCurve curve({0, 9, 1}, 0);
    const double values[] = {1, nan, infinity, 5, nan, -infinity, infinity, -3, 2, 1};
    for (std::int64_t x = 0; x < 10; ++x)
        ASSERT_TRUE(curve.add(x, values[x]));
    const auto rows = curve.finish();
    EXPECT_EQ(rows.x, (std::vector<std::int64_t>{0, 1, 2, 3, 5, 7, 9}));
    EXPECT_EQ(rows.nonfinite, 5);
    EXPECT_EQ(rows.lowest, -3);
    EXPECT_EQ(rows.highest, 5);
}

TEST(PixelCurves, SmoothingCountsAllPointsWithoutTheBiasOfTheBeginning)
{
    PixelCurve curve({0, 999, 10}, 0.9);
    double sum = 0;
    std::vector<double> expected;
    for (std::int64_t x = 0; x < 1000; ++x) {
        const double y = double(x * 37 % 101);
        sum = 0.9 * sum + (1 - 0.9) * y;
        expected.push_back(sum / (1 - std::pow(0.9, double(x + 1))));
        ASSERT_TRUE(curve.add(x, y));
    }
    const auto rows = curve.finish();
    ASSERT_EQ(rows.smooth.size(), rows.x.size());
    for (std::size_t i = 0; i < rows.x.size(); ++i)
        EXPECT_NEAR(rows.smooth[i], expected[static_cast<std::size_t>(rows.x[i])], 1e-9);
    PixelCurve odd({0, 2, 2}, 0.5);
    for (const double y : {2.0, nan, 2.0})
        ASSERT_TRUE(odd.add(1, y));
    EXPECT_DOUBLE_EQ(odd.finish().smooth.back(), 2);
}

TEST(PixelCurves, StepsBeyondTheWholeNumbersOfADoubleStayApart)
{
    constexpr std::int64_t far = std::int64_t{1} << 60;
    PixelCurve curve({far, far + 3, 4}, 0);
    for (std::int64_t x = far; x < far + 4; ++x)
        ASSERT_TRUE(curve.add(x, 1));
    EXPECT_EQ(curve.finish().x, (std::vector<std::int64_t>{far, far + 1, far + 2, far + 3}));
    using limits = std::numeric_limits<std::int64_t>;
    PixelCurve whole({limits::min(), limits::max(), 4096}, 0);
    for (const auto x : {limits::min(), std::int64_t{-1}, std::int64_t{0}, limits::max()})
        ASSERT_TRUE(whole.add(x, 1));
    EXPECT_EQ(whole.finish().x.size(), 4U);
}

TEST(PixelCurves, PointsOutOfOrderAreRefusedAndNothingChanges)
{
    PixelCurve curve({0, 9, 10}, 0);
    ASSERT_TRUE(curve.add(5, 1));
    EXPECT_TRUE(curve.add(5, 2));
    EXPECT_FALSE(curve.add(4, 3));
    EXPECT_EQ(curve.finish().count, 2);
    EXPECT_TRUE(PixelCurve({0, 0, 16}, 0).finish().x.empty());
}

}  // namespace
}  // namespace ponk::store
