// SPDX-License-Identifier: Apache-2.0
#include "api/http/byte_range.hpp"

#include <gtest/gtest.h>

namespace ponk::api {
namespace {

using Kind = ByteRange::Kind;

TEST(ByteRange, OneRangeIsAPart)
{
    EXPECT_EQ(ByteRange::of("bytes=5-9", 100).text(100), "bytes 5-9/100");
    EXPECT_EQ(ByteRange::of("bytes=5-", 100).text(100), "bytes 5-99/100");
    EXPECT_EQ(ByteRange::of("bytes=-5", 100).text(100), "bytes 95-99/100");
    EXPECT_EQ(ByteRange::of("bytes=-500", 100).text(100), "bytes 0-99/100");
    EXPECT_EQ(ByteRange::of("bytes=99-99999999999999999999999", 100).text(100), "bytes 99-99/100");
    EXPECT_EQ(ByteRange::of("bytes=0-0", 1).size, 1U);
}

TEST(ByteRange, WhatLiesBehindTheEndIsOutside)
{
    for (const auto* text :
         {"bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999-"})
        EXPECT_EQ(ByteRange::of(text, 100).kind, Kind::outside) << text;
    EXPECT_EQ(ByteRange::of("bytes=0-", 0).kind, Kind::outside);
    EXPECT_EQ(ByteRange::of("bytes=-1", 0).kind, Kind::outside);
    EXPECT_EQ(ByteRange::of("bytes=7-", 5).text(5), "bytes */5");
}

TEST(ByteRange, WhatIsNoSingleRangeMeansTheWholeFile)
{
    for (const auto* text : {"",
                             "bytes=",
                             "bytes=-",
                             "bytes=9-5",
                             "bytes=1-2,4-5",
                             "bytes=--5",
                             "bytes=+1-5",
                             "bytes=a-b",
                             "lines=1-2"}) {
        const auto range = ByteRange::of(text, 100);
        EXPECT_EQ(range.kind, Kind::whole) << text;
        EXPECT_EQ(range.size, 100U) << text;
    }
}

}  // namespace
}  // namespace ponk::api
