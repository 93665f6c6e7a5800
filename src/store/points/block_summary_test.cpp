// SPDX-License-Identifier: Apache-2.0
#include "os/golden_test_support.hpp"
#include "store/points/block_summary.hpp"
#include "store/points/packed_bytes.hpp"
#include "store/points/pixel_curve.hpp"
#include "store/points/summary_test_support.hpp"

#include <gtest/gtest.h>

#include <random>

namespace ponk::store {
namespace {

PointColumns golden_points()
{
    PointColumns points;
    for (std::int64_t i = 0; i < 600; ++i)
        points.add(double(float(1.0 / double(i % 97 + 1))), 3 * i, 1000 + 100 * i + i % 3);
    points.values[5] = not_a_number;
    points.values[6] = infinite;
    points.values[450] = -infinite;
    return points;
}

TEST(BlockSummaryTest, IsWhatTheGoldenFilesHold)
{
    const auto folder = os::Path(PONK_GOLDEN) / "points";
    const auto encoded = encode_summaries(golden_points());
    os::expect_golden(folder / "steps.summary", encoded.steps);
    os::expect_golden(folder / "times.summary", encoded.times);
}

TEST(BlockSummaryTest, ComesBackAsItWas)
{
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        const auto points = random_points(random, 256 + random() % 3840);
        for (const auto axis : {SummaryAxis::step, SummaryAxis::time}) {
            const auto summary = summarize(points, axis);
            if (!summary) continue;
            const auto bytes = encode_summary(*summary);
            const auto again = decode_summary(bytes);
            ASSERT_TRUE(again) << seed;
            EXPECT_EQ(encode_summary(*again), bytes) << seed;
            EXPECT_EQ(again->shift, summary->shift);
            EXPECT_LE(summary->blocks.size(), 40U);
        }
    }
}

TEST(BlockSummaryTest, BytesThatNoEncoderMadeAreDamage)
{
    const auto bytes = encode_summaries(golden_points()).steps;
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(decode_summary(std::string_view(bytes).substr(0, size))) << size;
    EXPECT_FALSE(decode_summary(bytes + "x"));
    for (const std::size_t place : {0U, 1U, 2U, 3U}) {
        auto other = bytes;
        other[place] = 99;
        EXPECT_FALSE(decode_summary(other)) << place;
    }
}

TEST(BlockSummaryTest, PointsThatAreFewOrNotInOrderHaveNone)
{
    PointColumns points;
    for (std::int64_t i = 0; i < 300; ++i)
        points.add(1, i, -i);
    EXPECT_TRUE(summarize(points, SummaryAxis::step));
    EXPECT_FALSE(summarize(points, SummaryAxis::time));
    PointColumns few;
    few.append(points, 0, 100);
    EXPECT_FALSE(summarize(few, SummaryAxis::step));
    EXPECT_TRUE(encode_summaries(few).steps.empty());
}

// A curve made of summaries is the curve made of points.
TEST(BlockSummaryTest, ShowsTheSameAsThePoints)
{
    unsigned used = 0;
    for (unsigned seed = 0; seed < 3000; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<PointColumns> chunks;
        const auto series = random_points(random, 256 + random() % 12'000);
        for (std::size_t first = 0; first < series.size(); first += 4096) {
            chunks.emplace_back();
            chunks.back().append(series, first, std::min(series.size(), first + 4096));
        }
        const auto axis = seed % 2 == 0 ? SummaryAxis::step : SummaryAxis::time;
        const auto& all = axis == SummaryAxis::step ? series.steps : series.times;
        const auto origin = seed % 4 == 1 ? static_cast<std::uint64_t>(all.front()) : 0;
        const auto window = random_window(random, all, origin);
        PixelCurve plain(window, 0, origin);
        PixelCurve quick(window, 0, origin);
        bool in_order = true;
        for (const auto& chunk : chunks) {
            const auto summary = summarize(chunk, axis);
            if (summary && quick.add(decode_summary(encode_summary(*summary)).value())) {
                ++used;
                ASSERT_TRUE(add_points(plain, chunk, axis, origin)) << seed;
                continue;
            }
            in_order = add_points(quick, chunk, axis, origin);
            EXPECT_EQ(add_points(plain, chunk, axis, origin), in_order) << seed;
            if (!in_order) break;
        }
        if (in_order) expect_same(plain.finish(), quick.finish(), seed);
    }
    EXPECT_GT(used, 500U);
}

}  // namespace
}  // namespace ponk::store
