// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "output/axis.hpp"
#include "output/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ponk::output {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string draw(std::vector<double> values, Terminal terminal = {.width = 40, .utf8 = false})
{
    const std::vector<Series> series{{.name = "y", .y = std::move(values)}};
    return draw_chart(series, {.terminal = terminal, .height = 5});
}

TEST(Chart, DrawsALine)
{
    EXPECT_EQ(draw({0, 1, 2, 3, 4}, {.width = 20, .utf8 = false}),
              " 4 +             ***\n"
              "   |          ***\n"
              " 2 +      ****\n"
              "   |  ****\n"
              " 0 +**\n"
              "   +----------------\n"
              "    0     step     4\n"
              "  * y  min 0.0  ma..\n");
}

TEST(Chart, LeavesGapsWhereThereIsNoNumber)
{
    const auto text = draw({1, 1, 1, nan, nan, nan, 1, 1, INFINITY});

    EXPECT_NE(text.find("*  "), std::string::npos);
    EXPECT_NE(text.find("last Infinity"), std::string::npos) << text;
    EXPECT_EQ(draw({nan, nan}), "");
    EXPECT_EQ(draw({}), "");
}

TEST(Chart, NeverExceedsTheTerminal)
{
    for (const double scale : {1e-300, 1e-9, 1.0, 12345.0, 1e9, 1e308}) {
        for (int width = 30; width <= 120; width += 15) {
            for (const bool utf8 : {true, false}) {
                const auto text =
                    draw({-scale, 0, scale, nan, scale / 3}, {.width = width, .utf8 = utf8});
                ASSERT_FALSE(text.empty());
                for (const auto& line : split(text, '\n'))
                    EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
            }
        }
    }
}

TEST(Chart, ShowsAPeakInALongSeries)
{
    std::vector<double> values(100'000, 0.0);
    values[50'000] = 1.0;

    const auto lines = split(draw(values), '\n');

    EXPECT_NE(lines[0].find('*'), std::string::npos);
}

TEST(Chart, NamesAreMadePrintable)
{
    const std::vector<Series> series{{.name = "\x1b[31mred", .y = {1, 2}}};

    EXPECT_EQ(draw_chart(series, {.title = "\x1b]0;x\a"}).find('\x1b'), std::string::npos);
}

TEST(Axis, EndsOnRoundNumbers)
{
    const auto axis = make_axis(0.04, 2.48, 5);

    EXPECT_DOUBLE_EQ(axis.ticks.front(), 0.0);
    EXPECT_DOUBLE_EQ(axis.ticks.back(), 2.5);
    EXPECT_EQ(axis.label(axis.ticks[1]), "0.5");
    EXPECT_EQ(make_axis(1e-5, 3.3e-5, 3).label(2e-5), "2e-05");
    EXPECT_EQ(make_axis(0, 1.2e7, 3).label(5e6), "5.0e+06");
    EXPECT_LT(make_axis(7, 7, 3).ticks.front(), 7.0);
    EXPECT_LE(make_axis(1e15, 1e15 + 1, 3).ticks.size(), 10U);
}

TEST(Axis, HoldsTheLargestAndTheSmallestNumbers)
{
    const auto large = make_axis(0, 1e308, 4);
    EXPECT_DOUBLE_EQ(large.place(1e308), 1.0);
    EXPECT_EQ(large.label(large.ticks.back()), "1.0e+308");
    const auto both = make_axis(-1.7e308, 1.7e308, 4);
    EXPECT_GT(both.place(1.7e308), 0.9);
    EXPECT_TRUE(std::isfinite(both.ticks.back()));
    const auto small = make_axis(5e-324, 5e-324, 4);
    EXPECT_NEAR(small.place(5e-324), 0.5, 0.2);
    EXPECT_EQ(small.label(small.ticks.front()), "4.9e-324");
}

TEST(Axis, OfLogarithmsHasRoundNumbers)
{
    const auto decades = make_axis(1e-5, 3, 4, Scale::logarithmic);
    EXPECT_EQ(decades.label(decades.ticks[0]), "0.0001");
    EXPECT_EQ(decades.label(decades.ticks[1]), "0.01");
    EXPECT_DOUBLE_EQ(decades.place(1e-5), 0.0);
    const auto few = make_axis(0.2, 11, 4, Scale::logarithmic);
    EXPECT_THAT(few.ticks,
                testing::Pointwise(testing::DoubleNear(1e-9), {0.2, 0.5, 1.0, 2.0, 5.0, 10.0}));
    const auto less = make_axis(0.21, 0.27, 4, Scale::logarithmic);
    EXPECT_GE(less.ticks.size(), 2U) << "less than a decade has numbers too";
    const auto wide = make_axis(5e-324, 1e308, 5, Scale::logarithmic);
    EXPECT_LE(wide.ticks.size(), 7U);
    EXPECT_NEAR(make_axis(7, 7, 3, Scale::logarithmic).place(7), 0.5, 1e-9);
}

TEST(Chart, LeavesGapsWhereALogarithmHasNoPlace)
{
    const std::vector<Series> series{{.name = "y", .y = {10, 0, -1, 1000}}};

    const auto text = draw_chart(
        series,
        {.terminal = {.width = 30, .utf8 = false}, .height = 5, .scale = Scale::logarithmic});

    EXPECT_NE(text.find(" 1000 +"), std::string::npos) << text;
    EXPECT_NE(text.find("min -1.0"), std::string::npos) << "told, though it is not drawn";
    EXPECT_EQ(
        draw_chart(std::vector<Series>{{.name = "y", .y = {0, -1}}}, {.scale = Scale::logarithmic}),
        "");
}

TEST(Chart, TellsManyCurvesApartWithoutColour)
{
    std::vector<Series> series;
    for (std::size_t i = 0; i < most_marks(); ++i)
        series.push_back({.name = "run " + std::to_string(i), .y = {static_cast<double>(i)}});

    const auto text = draw_chart(series, {.terminal = {.width = 80, .colour = false}});

    std::string marks;
    for (const auto& line : split(text, '\n')) {
        if (const auto at = line.find(" run "); at == 3) marks += line[2];
    }
    ASSERT_EQ(marks.size(), most_marks());
    std::ranges::sort(marks);
    EXPECT_EQ(std::ranges::adjacent_find(marks), marks.end());
}

TEST(Sparkline, FollowsTheValues)
{
    const std::vector<double> values{0, 1, 2, 3, 4, 5, 6, 7};

    EXPECT_EQ(sparkline(values, 20, {}), "▁▂▃▄▅▆▇█");
    EXPECT_EQ(sparkline(values, 4, {}), "▁▃▆█");
    EXPECT_EQ(sparkline(values, 20, {.utf8 = false}), "_.,-~=*#");
    EXPECT_EQ(sparkline(std::vector<double>{1, nan, 2}, 9, {}), "▁ █");
    EXPECT_EQ(sparkline(std::vector<double>{5, 5}, 9, {}), "▁▁");
    EXPECT_EQ(sparkline(std::vector<double>{-1e308, 1e308}, 9, {}), "▁█");
    EXPECT_EQ(sparkline({}, 9, {}), "");
    EXPECT_EQ(sparkline(values, 0, {}), "");
}

}  // namespace
}  // namespace ponk::output
