// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/terminal_filter.hpp"

#include <gtest/gtest.h>

namespace ponk::cli {
namespace {

std::string filtered(std::string_view bytes, std::size_t step = std::string::npos)
{
    TerminalFilter filter;
    std::string out;
    for (std::size_t at = 0; at < bytes.size(); at += std::min(step, bytes.size())) {
        filter.feed(bytes.substr(at, step), out);
    }
    filter.finish(out);
    return out;
}

TEST(TerminalFilter, text_and_progress_bars_pass)
{
    const std::string_view text = "epoch 1\r\x08\tžluťoučký 漢字 😀\n";
    EXPECT_EQ(filtered(text), text);
}

TEST(TerminalFilter, colours_pass)
{
    const std::string_view text = "\x1b[1;31mred\x1b[0m \x1b[38;5;12mx\x1b[m \x1b[38:2::1:2:3mx";
    EXPECT_EQ(filtered(text), text);
}

TEST(TerminalFilter, whatever_could_drive_the_terminal_is_shown)
{
    EXPECT_EQ(filtered("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
    EXPECT_EQ(filtered("\x1b[2J\x1b[H"), "\\x1b[2J\\x1b[H");
    EXPECT_EQ(filtered("\x1b[6n"), "\\x1b[6n");
    EXPECT_EQ(filtered("\x1b[?1049h"), "\\x1b[?1049h");
    EXPECT_EQ(filtered(std::string_view("a\0b", 3)),
              "a\\x00"
              "b");
    EXPECT_EQ(filtered("\x7f"), "\\x7f");
    // C1 controls, as bytes and as UTF-8
    EXPECT_EQ(filtered("\x9b"
                       "31m"),
              "\\x9b31m");
    EXPECT_EQ(filtered("\xc2\x9b"
                       "31m"),
              "\\xc2\\x9b31m");
}

TEST(TerminalFilter, bytes_that_are_no_utf8_are_shown)
{
    EXPECT_EQ(filtered("\xff\xfe ok \xc3("), "\\xff\\xfe ok \\xc3(");
    EXPECT_EQ(filtered("\xe2\x82"), "\\xe2\\x82");
    EXPECT_EQ(filtered("\xed\xa0\x80"), "\\xed\\xa0\\x80");
}

TEST(TerminalFilter, the_cut_between_two_pieces_changes_nothing)
{
    const std::string_view text = "\x1b[1;31mred\x1b[0m ž 漢 😀 \x1b]0;t\x07 \xc3( \xe2\x82 \x1b[2J "
                                  "\x1b[ \x1b\x1b[0m \xf0\x9f";
    const std::string whole = filtered(text);
    for (std::size_t step = 1; step < 9; ++step)
        EXPECT_EQ(filtered(text, step), whole) << step;
}

TEST(TerminalFilter, an_endless_colour_sequence_is_not_held_back_for_ever)
{
    TerminalFilter filter;
    std::string out;
    filter.feed("\x1b[" + std::string(100000, '1'), out);
    EXPECT_GT(out.size(), 99000U);
}

TEST(TerminalFilter, characters_that_change_the_direction_are_shown)
{
    EXPECT_EQ(filtered("a\u202eb"), "a\\u202eb");
    EXPECT_EQ(filtered("\u2066x\u2069", 1), "\\u2066x\\u2069");
    EXPECT_EQ(filtered("“…” – ✓ ح"), "“…” – ✓ ح");
}

TEST(TerminalFilter, what_has_no_colours_of_its_own_lets_none_pass)
{
    for (const auto& [passing, expected] : {std::pair{Passing::text, "a\\x1b[31mb\\x0dc\\x08\n"},
                                            {Passing::colours, "a\x1b[31mb\\x0dc\\x08\n"},
                                            {Passing::log, "a\x1b[31mb\rc\b\n"}}) {
        TerminalFilter filter(passing);
        std::string out;
        filter.feed("a\x1b[31mb\rc\b\n", out);
        filter.finish(out);
        EXPECT_EQ(out, expected);
    }
}

}  // namespace
}  // namespace ponk::cli
