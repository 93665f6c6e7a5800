// SPDX-License-Identifier: Apache-2.0
#include "mlflow/trace_time.hpp"

#include <gtest/gtest.h>

namespace ponk::mlflow {
namespace {

TEST(TraceTime, ReadsWhatItWritesAndFinerTimes)
{
    EXPECT_EQ(trace_time_text(1'000), "1970-01-01T00:00:01Z");
    EXPECT_EQ(trace_time_text(1'001), "1970-01-01T00:00:01.001Z");
    EXPECT_EQ(parse_trace_time("1970-01-01T00:00:01Z"), 1'000);
    EXPECT_EQ(parse_trace_time("1970-01-01T00:00:01.001999999Z"), 1'001);
    EXPECT_EQ(parse_trace_time("1970-01-01T00:00:01.5Z"), 1'500);
    EXPECT_EQ(parse_trace_time("1970-01-01T02:00:01.5+02:00"), 1'500);
    EXPECT_EQ(parse_trace_time("1969-12-31T18:30:00-05:30"), 0);
    for (const auto* text : {"",
                             "Z",
                             "1970-01-01T00:00:01+2:00",
                             "1970-01-01T00:00:01+02:00Z",
                             "1970-01-01T00:00:01+0x:00",
                             "x",
                             "1970-01-01T00:00:01",
                             "1970-01-01T00:00:01.Z",
                             "1970-01-01T00:00:01.x1Z",
                             "1970-01-01 00:00:01Z"})
        EXPECT_EQ(parse_trace_time(text), std::nullopt) << text;
    EXPECT_EQ(trace_duration_text(91), "0.091s");
    EXPECT_EQ(trace_duration_text(2'000), "2s");
    EXPECT_EQ(parse_trace_duration("0.091s"), 91);
    EXPECT_EQ(parse_trace_duration("2.000000001s"), 2'000);
    for (const auto* text : {"", "s", "-1s", "1", "1.s", "99999999999999s", "1e3s"})
        EXPECT_EQ(parse_trace_duration(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ponk::mlflow
