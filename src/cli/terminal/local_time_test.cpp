// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/local_time.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ponk::cli {
namespace {

// Prague, by rule: the machine may have no table of zones.
class LocalTime : public testing::Test {
protected:
    void SetUp() override { ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1); }
    void TearDown() override { ::unsetenv("TZ"); }
};

TEST_F(LocalTime, FollowsTheZone)
{
    EXPECT_EQ(local_time("2026-11-18T16:20:05.123Z"), "2026-11-18T17:20:05");
    EXPECT_EQ(zone_at("2026-11-18T16:20:05.123Z"), "CET");
    EXPECT_EQ(local_time("2026-07-18T22:20:05.000Z"), "2026-07-19T00:20:05");
    EXPECT_EQ(zone_at("2026-07-18T22:20:05.000Z"), "CEST");
}

TEST_F(LocalTime, LeavesOtherTextsAlone)
{
    for (const char* text : {"", "yesterday", "2026-11-18", "2026-11-18T16:20:05", "16:20:05Z"}) {
        EXPECT_EQ(local_time(text), text);
        EXPECT_EQ(zone_at(text), "");
    }
}

TEST_F(LocalTime, ReplacesTheTimesOfATable)
{
    const auto shown = with_local_times(
        parse_json(R"([{"name": "x", "created_utc": "2026-11-18T16:20:05.123Z", "end_utc": null}])")
            .value());
    EXPECT_EQ(to_json(shown),
              R"([{"name":"x","created":"2026-11-18 17:20:05 CET","end_utc":null}])");
}

}  // namespace
}  // namespace ponk::cli
