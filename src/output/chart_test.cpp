// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "output/axis.hpp"
#include "output/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

    EXPECT_DOUBLE_EQ(axis.low, 0.0);
    EXPECT_DOUBLE_EQ(axis.high, 2.5);
    EXPECT_EQ(axis.label(axis.ticks[1]), "0.5");
    EXPECT_EQ(make_axis(1e-5, 3.3e-5, 3).label(2e-5), "2e-05");
    EXPECT_EQ(make_axis(0, 1.2e7, 3).label(5e6), "5.0e+06");
    EXPECT_LT(make_axis(7, 7, 3).low, 7.0);
    EXPECT_LE(make_axis(1e15, 1e15 + 1, 3).ticks.size(), 10U);
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
