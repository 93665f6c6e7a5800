// SPDX-License-Identifier: Apache-2.0
#include "api/http/unpack.hpp"
#include "base/work_budget.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <zlib.h>

namespace ponk::api {
namespace {

using testing::HasSubstr;

// `times` times the text, in one stream.
std::string packed(const std::string& text, int window, int times = 1)
{
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY),
              Z_OK);
    std::string out;
    std::string room(1 << 16, '\0');
    auto copy = text;
    for (int i = 0; i < times; ++i) {
        stream.next_in = reinterpret_cast<Bytef*>(copy.data());
        stream.avail_in = static_cast<uInt>(copy.size());
        int code = Z_OK;
        do {
            stream.next_out = reinterpret_cast<Bytef*>(room.data());
            stream.avail_out = static_cast<uInt>(room.size());
            code = deflate(&stream, i + 1 == times ? Z_FINISH : Z_NO_FLUSH);
            out.append(room, 0, room.size() - stream.avail_out);
        } while (i + 1 == times ? code != Z_STREAM_END : stream.avail_out == 0);
    }
    deflateEnd(&stream);
    return out;
}

std::string gzipped(const std::string& text, int times = 1)
{
    return packed(text, MAX_WBITS + 16, times);
}

constexpr std::size_t most = std::size_t{1} << 20;

std::string problem_of(std::string_view encoding, std::string_view body)
{
    const auto result = unpack(encoding, body, most);
    return result ? "" : result.error().message();
}

TEST(Unpack, EachEncodingGivesWhatWasPacked)
{
    std::string text;
    for (unsigned i = 0; i < 50'000; ++i)
        text += static_cast<char>(i * i);
    EXPECT_EQ(unpack("", text, most), text);
    EXPECT_EQ(unpack("identity", text, most), text);
    EXPECT_EQ(unpack("gzip", gzipped(text), most), text);
    EXPECT_EQ(unpack(" GZip", gzipped(text), most), text);
    EXPECT_EQ(unpack("gzip", gzipped(text) + gzipped("more"), most), text + "more");
    EXPECT_EQ(unpack("deflate", packed(text, MAX_WBITS), most), text);
    EXPECT_EQ(unpack("gzip", gzipped(std::string(most, 'a')), most), std::string(most, 'a'));
}

TEST(Unpack, WhatIsDamagedIsRefused)
{
    const auto good = gzipped("some text");
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_THAT(problem_of("gzip", good.substr(0, size)), HasSubstr("cannot be unpacked"));
    auto flipped = good;
    flipped[12] = static_cast<char>(flipped[12] ^ 1);
    EXPECT_THAT(problem_of("gzip", flipped), HasSubstr("cannot be unpacked"));
    EXPECT_THAT(problem_of("gzip", good + "x"), HasSubstr("cannot be unpacked"));
    EXPECT_THAT(problem_of("gzip", packed("a", MAX_WBITS)), HasSubstr("cannot be unpacked"));
    EXPECT_THAT(problem_of("deflate", good), HasSubstr("cannot be unpacked"));
    EXPECT_THAT(problem_of("br", good), HasSubstr("Unsupported Content-Encoding: br"));
}

TEST(Unpack, ABombIsRefusedWhileItUnpacks)
{
    const std::string zeros(most, '\0');
    EXPECT_THAT(problem_of("gzip", gzipped(zeros + "x")), HasSubstr("more than 1.0 MiB"));
    // What comes behind the limit is never looked at, so that damage there is not what is said.
    auto bomb = gzipped(zeros, 64);
    bomb.resize(bomb.size() / 2);
    EXPECT_THAT(problem_of("gzip", bomb), HasSubstr("more than 1.0 MiB"));
    // Many streams, too.
    std::string many;
    for (int i = 0; i < 3; ++i)
        many += gzipped(std::string(most / 2, 'a'));
    EXPECT_THAT(problem_of("gzip", many), HasSubstr("more than 1.0 MiB"));
}

TEST(Unpack, ItEndsWithTheWorkOfItsRequest)
{
    WorkBudget budget;
    budget.abandon();
    const WorkScope scope(&budget);
    EXPECT_EQ(unpack("gzip", gzipped("a"), most).error().kind(), ErrorKind::cancelled);
}

}  // namespace
}  // namespace ponk::api
