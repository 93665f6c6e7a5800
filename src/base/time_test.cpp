// SPDX-License-Identifier: Apache-2.0
#include "base/time.hpp"

#include <gtest/gtest.h>

namespace ponk {
namespace {

TEST(Time, UtcRoundTrip)
{
    EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(utc_text(-1), "1969-12-31T23:59:59.999Z");
    EXPECT_EQ(parse_utc(utc_text(1'700'000'000'123)), 1'700'000'000'123);
    EXPECT_EQ(parse_utc("yesterday"), std::nullopt);
}

TEST(Time, ADayThatIsNoneIsNoTime)
{
    EXPECT_EQ(parse_utc("2026-06-31T00:00:00.000Z"), std::nullopt);
    EXPECT_EQ(parse_utc("2026-06-30T24:00:00.000Z"), std::nullopt);
    EXPECT_EQ(parse_utc("2026-06-30T+1:00:00.000Z"), std::nullopt);
}

TEST(Time, IsReadAsPeopleWriteIt)
{
    constexpr std::int64_t day = 1'767'225'600'000;
    for (const auto* text : {"2026-01-01",
                             "2026-01-01Z",
                             "2026-01-01 00:00",
                             "2026-01-01T00:00:00",
                             "2026-01-01 00:00:00.0",
                             "2026-01-01T00:00:00.000Z"})
        EXPECT_EQ(parse_written_time(text), day) << text;
    EXPECT_EQ(parse_written_time("2026-01-01 12:30:05.5"), day + 45'005'500);
    for (const auto* text : {"",
                             "2026",
                             "2026-01",
                             "2026-1-1",
                             "01/02/2026",
                             "2026-01-01 1",
                             "2026-01-01 12:3",
                             "2026-01-01 12:",
                             "today"})
        EXPECT_EQ(parse_written_time(text), std::nullopt) << text;
}

TEST(Time, Durations)
{
    EXPECT_EQ(duration_text(3'725'042), "1:02:05.042");
    EXPECT_EQ(brief_duration_text(950), "950 ms");
    EXPECT_EQ(brief_duration_text(65'000), "1 min 5 s");
}

}  // namespace
}  // namespace ponk
