// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "os/file.hpp"
#include "store/points/chunk_codec.hpp"
#include "store/points/packed_bytes.hpp"
#include "store/points/tail_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

namespace ponk::store {
namespace {

using model::MetricPoint;
using Form = MetricPoint::Form;
constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto greatest = std::numeric_limits<std::int64_t>::max();
constexpr auto infinity = std::numeric_limits<double>::infinity();

PointColumns columns(const std::vector<MetricPoint>& points)
{
    PointColumns made;
    for (const auto& point : points)
        made.add(point);
    return made;
}

void expect_same(const PointColumns& a, const PointColumns& b)
{
    EXPECT_EQ(a.steps, b.steps);
    EXPECT_EQ(a.times, b.times);
    EXPECT_EQ(a.kinds, b.kinds);
    EXPECT_EQ(a.texts, b.texts);
    ASSERT_EQ(a.values.size(), b.values.size());
    for (std::size_t i = 0; i < a.values.size(); ++i)
        EXPECT_EQ(bits_of(a.values[i]), bits_of(b.values[i])) << i;
}

PointColumns there_and_back(const PointColumns& points)
{
    const auto bytes = ChunkEncoder().encode(points);
    auto decoded = ChunkDecoder().decode(bytes);
    EXPECT_TRUE(decoded);
    return decoded ? *std::move(decoded) : PointColumns();
}

TEST(ChunkCodecTest, EveryKindOfPointComesBack)
{
    const auto points = columns({{"", 0.1, {}, 0, 0},
                                 {"", -0.0, {}, greatest, least},
                                 {"", infinity, {}, least, greatest},
                                 {"", -infinity, {}, -1, 1},
                                 {"", std::nan("7"), {}, 0, 0, Form::list},
                                 {"", 5e-324, {}, 0, 0},
                                 {"", 1.7976931348623157e308, {}, 0, 0},
                                 {"", 0, "a text", 3, 4},
                                 {"", 0, "", 3, 4, Form::list},
                                 {"", 2, {}, 3, 4}});

    expect_same(there_and_back(points), points);
}

TEST(ChunkCodecTest, OnePointTakesLittleRoom)
{
    const auto one = columns({{"", 0.5, {}, 7, 1'740'832'205'123}});

    expect_same(there_and_back(one), one);
    EXPECT_LT(ChunkEncoder().encode(one).size(), 25U);
}

// Series of all shapes: steps that are regular, repeat, jump or wrap; values of all widths.
TEST(ChunkCodecTest, SeriesOfAllShapesComeBack)
{
    ChunkEncoder encoder;
    ChunkDecoder decoder;
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937_64 random(seed);
        const auto count = 1 + random() % (seed % 10 == 0 ? most_chunk_points : 200);
        PointColumns points;
        std::int64_t step = seed % 7 == 0 ? greatest - 100 : 0;
        std::int64_t time = 1'740'000'000'000;
        for (std::size_t i = 0; i < count; ++i) {
            MetricPoint point;
            point.step = step;
            point.time = time;
            const auto bits = random();
            switch (seed % 5) {
            case 0:
                point.value = std::bit_cast<double>(bits);
                break;
            case 1:
                point.value = double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))};
                break;
            case 2:
                point.value = static_cast<double>(bits % 10);
                break;
            case 3:
                point.value = static_cast<double>(bits % 1000) / 1000;
                break;
            default:
                point.value = 1;
            }
            if (seed % 11 == 0 && bits % 3 == 0) point.text = std::string(bits % 40, 'x');
            if (seed % 13 == 0 && bits % 2 == 0) point.form = Form::list;
            points.add(point);
            const auto next = static_cast<std::uint64_t>(step) + (seed % 3 == 0   ? 1
                                                                  : seed % 3 == 1 ? bits % 4
                                                                                  : bits);
            step = static_cast<std::int64_t>(next);
            time += static_cast<std::int64_t>(90 + random() % 21);
            if (bits % 500 == 0) time += 1'000'000'000;
        }
        const auto decoded = decoder.decode(encoder.encode(points));
        ASSERT_TRUE(decoded) << seed;
        expect_same(*decoded, points);
    }
}

// The goals for what is stored: below 6 bytes for values from float training, below 9 for doubles.
TEST(ChunkCodecTest, ATrainingTakesFewBytesAPoint)
{
    std::mt19937_64 random(1);
    std::normal_distribution<double> noise;
    PointColumns floats;
    PointColumns doubles;
    std::int64_t time = 1'740'000'000'000;
    for (std::int64_t step = 0; step < static_cast<std::int64_t>(most_chunk_points); ++step) {
        const double loss = std::exp(-1e-4 * static_cast<double>(step)) + 0.1 * noise(random);
        floats.add({"", double{static_cast<float>(loss)}, {}, step, time});
        doubles.add({"", loss, {}, step, time});
        time += 90 + static_cast<std::int64_t>(random() % 21);
    }
    ChunkEncoder encoder;
    const auto bytes_each = [&](const PointColumns& points) {
        return static_cast<double>(encoder.encode(points).size()) /
               static_cast<double>(points.size());
    };

    EXPECT_LT(bytes_each(floats), 4.5);
    EXPECT_LT(bytes_each(doubles), 8.5);
}

TEST(ChunkCodecTest, BytesThatNoEncoderMadeAreDamaged)
{
    const auto good = ChunkEncoder().encode(
        columns({{"", 0.1, {}, 1, 2}, {"", 7, "text", 5, 3}, {"", 1, {}, 9, 4}}));
    ChunkDecoder decoder;
    ASSERT_TRUE(decoder.decode(good));

    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_FALSE(decoder.decode(good.substr(0, size))) << size;
    EXPECT_FALSE(decoder.decode(good + "x"));
    auto later = good;
    later[0] = 2;
    const auto refused = decoder.decode(later);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::damaged);
}

std::vector<MetricPoint> golden_points()
{
    std::vector<MetricPoint> points;
    for (std::int64_t i = 0; i < 200; ++i)
        points.push_back({"loss", 1.0 / static_cast<double>(i + 1), {}, i, 1000 + 100 * i + i % 3});
    points.push_back({"loss", 0, "a text", 200, 30'000, Form::list});
    return points;
}

// What was stored once is read by every later version. Made with PONK_UPDATE_GOLDEN=1 while there
// is none; zstd's own versions may write other bytes.
TEST(ChunkCodecTest, ReadsTheGoldenBytes)
{
    const auto points = golden_points();
    const auto small = std::span(points).first(3);
    const auto folder = os::Path(PONK_GOLDEN) / "points";
    const auto golden = [&](const char* name, const std::string& now) {
        const auto file = folder / name;
        if (::getenv("PONK_UPDATE_GOLDEN") && !std::filesystem::exists(file)) {
            std::filesystem::create_directories(folder);
            std::ofstream(file, std::ios::binary) << now;
        }
        return os::read_file(file).value();
    };
    const auto three = columns({small.begin(), small.end()});
    const auto whole = golden("long.chunk", ChunkEncoder().encode(columns(points)));
    const auto plain = golden("three.chunk", ChunkEncoder().encode(three));
    const auto tail = golden("columns.tail", encode_tail(PointsByKey(points)));
    const auto rows = golden("request.tail", {});  // version 1

    expect_same(ChunkDecoder().decode(whole).value(), columns(points));
    expect_same(ChunkDecoder().decode(plain).value(), three);
    EXPECT_EQ(plain, ChunkEncoder().encode(three));
    EXPECT_EQ(tail, encode_tail(PointsByKey(points)));
    for (const auto& bytes : {tail, rows}) {
        PointsByKey read;
        ASSERT_TRUE(decode_tail(bytes, read));
        expect_same(read.keys().at(0).points, columns(points));
    }
}

TEST(TailCodecTest, PointsOfARequestComeBackByKey)
{
    const std::vector<MetricPoint> points{{"loss", 0.5, {}, 1, 10},
                                          {"acc", std::nan(""), {}, least, greatest},
                                          {"loss", -0.0, {}, 2, 20, Form::list},
                                          {"", 0, "a text", 3, 30}};
    PointsByKey read;

    const auto tail = encode_tail(PointsByKey(points));

    ASSERT_TRUE(decode_tail(tail, read));
    ASSERT_TRUE(decode_tail(encode_tail(PointsByKey(std::span(points).first(1))), read));

    EXPECT_EQ(read.size(), 5U);
    ASSERT_EQ(read.keys().size(), 3U);
    EXPECT_EQ(read.keys()[0].key, "loss");
    expect_same(read.keys()[0].points, columns({points[0], points[2], points[0]}));
    EXPECT_EQ(read.keys()[1].key, "acc");
    expect_same(read.keys()[1].points, columns({points[1]}));
    expect_same(read.keys()[2].points, columns({points[3]}));
    // Where one of its keys ends it says less, and is whole.
    std::size_t whole = 0;
    for (std::size_t size = 0; size < tail.size(); ++size) {
        PointsByKey some;
        if (decode_tail(std::string_view(tail).substr(0, size), some)) ++whole;
    }
    EXPECT_EQ(whole, 3U);
}

}  // namespace
}  // namespace ponk::store
