// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/runs/metric_follow.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ponk::cli {
namespace {

using testing::HasSubstr;

TEST(MetricFollow, LinesForPipesAreKeyStepValue)
{
    EXPECT_EQ(plain_line({"loss", 7, 1000, 0.25}), "loss 7 0.25");
    EXPECT_EQ(plain_line({"loss", 8, 1000, "NaN"}), "loss 8 NaN");
    EXPECT_EQ(plain_line({"a\x1b[31m", 0, 0, "two\nlines"}), "a\\x1b[31m 0 two\\nlines");
}

TEST(MetricFollow, BoardShowsTheLatestOfEachMetric)
{
    const auto run = parse_json(R"({"run_id": "0197f3a1c2d4700080004f2a9be01c13",
        "status": "Running", "end_time_utc": null, "duration_ms": 5000})")
                         .value();
    MetricBoard board;
    EXPECT_THAT(board.lines(run, {.width = 80}),
                testing::ElementsAre("run 9be01c13 Running 5.0 s", "no metrics yet"));
    for (int step = 0; step < 300; ++step)
        board.add({"loss", step, 0, 1.0 / (step + 1)});
    board.add({"accuracy", 4, 0, "NaN"});

    const auto lines = board.lines(run, {.width = 80});

    ASSERT_EQ(lines.size(), 5U) << join(lines, "\n");
    EXPECT_THAT(lines[3], HasSubstr("accuracy     4"));
    EXPECT_THAT(lines[4], HasSubstr("loss       299"));
    EXPECT_THAT(lines[4], HasSubstr("█"));
    for (const int width : {20, 40, 80, 120}) {
        for (const auto& line : board.lines(run, {.width = width, .colour = true}))
            EXPECT_LE(display_width(line), static_cast<std::size_t>(width) + 32) << line;
        for (const auto& line : board.lines(run, {.width = width}))
            EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
    }
}

}  // namespace
}  // namespace ponk::cli
