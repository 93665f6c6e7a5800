// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/metric_series.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ponk::cli {
namespace {

using testing::ElementsAre;

Json parsed(std::string_view text)
{
    return parse_json(text).value();
}

const Json metric = parsed(R"({"points": [[0, 1000, 1.0], [2, 3000, "NaN"], [1, 2000, 0.5],
                                          [3, 4000, "a text"], [4, 5000, "-Infinity"]]})");

TEST(MetricSeries, CurvesAreInTheOrderOfTheirAxis)
{
    const auto steps = curve_of("loss", metric, {});
    EXPECT_THAT(steps.x, ElementsAre(0, 1, 2, 4)) << "a text is no point";
    EXPECT_TRUE(std::isnan(steps.y[2]));
    EXPECT_EQ(steps.y[3], -HUGE_VAL);
    EXPECT_THAT(curve_of("loss", metric, {.x = ChartX::time, .origin = 1000}).x,
                ElementsAre(0, 1000, 2000, 4000));
    EXPECT_THAT(curve_of("loss", metric, {.x = ChartX::wall}).x,
                ElementsAre(1000, 2000, 3000, 5000));
}

TEST(MetricSeries, MeansStandBesideTheirPoints)
{
    Json sorted = metric;
    sort_points(sorted, ChartX::step);
    EXPECT_EQ(to_json(sorted["points"].as_array()[1]), "[1,2000,0.5]");
    EXPECT_EQ(to_json(Json(means_of(sorted, 0.5))),
              R"([1.0,0.6666666666666667,"NaN",null,"-Infinity"])");
}

TEST(MetricSeries, OneStepIsNoCurve)
{
    EXPECT_TRUE(has_steps(series_of("loss", metric)));
    EXPECT_FALSE(has_steps(series_of("final", parsed(R"({"points": [[0, 1, 0.5]]})"))));
    EXPECT_FALSE(has_steps(series_of("final", parsed(R"({"points": [[7, 1, 1], [7, 2, 2]]})"))));
    EXPECT_FALSE(has_steps(series_of("none", parsed(R"({"points": []})"))));
}

TEST(MetricSeries, SmoothingKeepsTheFirstValueAndSkipsGaps)
{
    EXPECT_THAT(
        smoothed({4, 0, 0}, 0.5),
        ElementsAre(4, testing::DoubleNear(4.0 / 3, 1e-12), testing::DoubleNear(4.0 / 7, 1e-12)));
    const auto gaps = smoothed({1, NAN, 1}, 0.9);
    EXPECT_TRUE(std::isnan(gaps[1]));
    EXPECT_DOUBLE_EQ(gaps[2], 1);
    EXPECT_THAT(smoothed({1.7e308, 1.7e308, -1.7e308}, 0.5)[1],
                testing::DoubleNear(1.7e308, 1e295));
    EXPECT_THAT(smoothed({5e-324}, 0.5).size(), 1U);
}

}  // namespace
}  // namespace ponk::cli
