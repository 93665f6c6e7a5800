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

TEST(Time, Durations)
{
    EXPECT_EQ(duration_text(3'725'042), "1:02:05.042");
    EXPECT_EQ(brief_duration_text(950), "950 ms");
    EXPECT_EQ(brief_duration_text(65'000), "1 min 5 s");
}

}  // namespace
}  // namespace ponk
