// SPDX-License-Identifier: Apache-2.0
#include "store/points/curve.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ponk::store {
namespace {

model::MetricPoint point(std::int64_t step, double value)
{
    return {.key = "k", .value = value, .text = {}, .step = step, .time = 0};
}

std::vector<model::MetricPoint> reduce(const std::vector<double>& values, std::size_t most)
{
    Curve curve(values.size(), most);
    for (std::size_t i = 0; i < values.size(); ++i)
        curve.add(point(static_cast<std::int64_t>(i), values[i]));
    return curve.finish();
}

TEST(Curve, FewPointsStayAsTheyAre)
{
    EXPECT_TRUE(reduce({}, 10).empty());
    const auto all = reduce({3, 1, 2, 2}, 4);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[1].value, 1);
}

TEST(Curve, KeepsTheEndsAndEveryPeak)
{
    std::vector<double> values(10'001, 1.0);
    values[4321] = 99;
    values[4322] = -7;
    values[10'000] = 5;

    const auto kept = reduce(values, 100);

    EXPECT_LE(kept.size(), 100U);
    EXPECT_EQ(kept.front().step, 0);
    EXPECT_EQ(kept.back().step, 10'000);
    EXPECT_EQ(kept.back().value, 5);
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        low = std::min(low, kept[i].value);
        high = std::max(high, kept[i].value);
        if (i > 0) {
            EXPECT_LT(kept[i - 1].step, kept[i].step) << i;
        }
    }
    EXPECT_EQ(low, -7);
    EXPECT_EQ(high, 99);
}

TEST(Curve, NanAndTextGiveWayToNumbers)
{
    std::vector<double> values(1000, std::nan(""));
    values[500] = 2;

    const auto kept = reduce(values, 20);

    EXPECT_LE(kept.size(), 20U);
    EXPECT_TRUE(
        std::any_of(kept.begin(), kept.end(), [](const auto& each) { return each.value == 2; }));
}

TEST(Curve, NeverMoreThanAskedForWhateverTheCount)
{
    for (std::size_t count = 0; count < 300; ++count) {
        for (const std::size_t most : {4U, 5U, 17U, 100U}) {
            std::vector<double> values;
            for (std::size_t i = 0; i < count; ++i)
                values.push_back(std::sin(static_cast<double>(i)));
            const auto kept = reduce(values, most);
            EXPECT_LE(kept.size(), most) << count;
            if (count > 0) {
                EXPECT_EQ(kept.back().step, static_cast<std::int64_t>(count) - 1);
            }
        }
    }
}

}  // namespace
}  // namespace ponk::store
