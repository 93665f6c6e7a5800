// SPDX-License-Identifier: Apache-2.0
#include "net/frames.hpp"
#include "net/socket_test_support.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace ponk::net {
namespace {

using Step = FrameReader::Step;

FrameReader::Step read_all(FrameReader& reader, std::string_view bytes)
{
    return reader.read(bytes);
}

TEST(Frames, AreReadInPiecesOfAnySize)
{
    const auto bytes = client_frame(0x01, "so", Last::no) + client_frame(0x09, "ping") +
                       client_frame(0x00, "me ", Last::no) +
                       client_frame(0x00, std::string(300, 'x')) + client_frame(0x01, "") +
                       client_frame(0x08, "\x03\xe8");
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{7}, bytes.size()}) {
        FrameReader reader(1000);
        std::string seen;
        for (std::size_t at = 0; at < bytes.size(); at += size) {
            auto piece = std::string_view(bytes).substr(at, size);
            for (auto step = reader.read(piece); step != Step::more; step = reader.read(piece)) {
                ASSERT_NE(step, Step::bad) << reader.problem().reason;
                seen += std::to_string(static_cast<int>(step)) + reader.take() + "|";
            }
            EXPECT_TRUE(piece.empty());
        }
        EXPECT_EQ(seen, "2ping|1some " + std::string(300, 'x') + "|1|4\x03\xe8|") << size;
    }
}

TEST(Frames, OfAClientThatAreNotAllowed)
{
    const std::string plain("\x81\x02hi", 4);
    for (const auto& [bytes, code, word] : {
             std::tuple{plain, 1002, "no mask"},
             {client_frame(0x41, "a"), 1002, "extension"},
             {client_frame(0x02, "a"), 1003, "only text"},
             {client_frame(0x03, "a"), 1002, "known kind"},
             {client_frame(0x0b, "a"), 1002, "known kind"},
             {client_frame(0x00, "a"), 1002, "out of order"},
             {client_frame(0x01, "a", Last::no) + client_frame(0x01, "b"), 1002, "out of order"},
             {client_frame(0x09, "a", Last::no), 1002, "control frame"},
             {client_frame(0x09, std::string(126, 'a')), 1002, "control frame"},
             {client_frame(0x01, std::string(101, 'a')), 1009, "more than 100 bytes"},
             {client_frame(0x01, std::string(60, 'a'), Last::no) +
                  client_frame(0x00, std::string(41, 'a')),
              1009,
              "more than 100 bytes"},
             // Its length alone is enough, of whatever it says that is to come.
             {std::string("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 14), 1009, "more"},
             {client_frame(0x01, "\xff"), 1007, "UTF-8"},
         }) {
        FrameReader reader(100);
        EXPECT_EQ(read_all(reader, bytes), Step::bad);
        EXPECT_EQ(reader.problem().code, code) << reader.problem().reason;
        EXPECT_NE(reader.problem().reason.find(word), std::string::npos) << reader.problem().reason;
        // Nothing behind it is taken for anything.
        EXPECT_EQ(read_all(reader, client_frame(0x01, "hi")), Step::bad);
    }
}

TEST(Frames, OfTheServerHaveTheSmallestHeadAndNoMask)
{
    EXPECT_EQ(text_frame("hi"), "\x81\x02hi");
    EXPECT_EQ(text_frame(std::string(126, 'a')).substr(0, 5),
              std::string("\x81\x7e\0\x7e"
                          "a",
                          5));
    EXPECT_EQ(text_frame(std::string(70'000, 'a')).substr(0, 11),
              std::string("\x81\x7f\0\0\0\0\0\x01\x11\x70"
                          "a",
                          11));
    EXPECT_EQ(ping_frame(), std::string("\x89\0", 2));
    EXPECT_EQ(pong_frame("x"), "\x8a\x01x");
    EXPECT_EQ(close_frame({1001, "ends"}),
              "\x88\x06\x03\xe9"
              "ends");
    // A reason that is too long is cut between characters.
    std::string reason(122, 'a');
    reason += "\xc3\xa9";
    EXPECT_EQ(close_frame({1000, reason}).size(), 2 + 2 + 122);
}

}  // namespace
}  // namespace ponk::net
