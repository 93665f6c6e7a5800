// SPDX-License-Identifier: Apache-2.0
#include "engine/files/line_ends.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace ponk::engine {
namespace {

TEST(LineEnds, AFileOfWindowsStaysOne)
{
    EXPECT_EQ(with_line_ends_of("a\r\nb\r\n", "a\nx\nb\ny\n"), "a\r\nx\r\nb\r\ny\r\n");
    EXPECT_EQ(with_line_ends_of("a\r\nb", "a\nb\nc"), "a\r\nb\r\nc");
}

TEST(LineEnds, LinesThatAreAsTheyWereKeepTheirOwnEnds)
{
    EXPECT_EQ(with_line_ends_of("a\r\nb\nc\rd\n", "a\nB\nc\nd\n"), "a\r\nB\nc\rd\n");
    EXPECT_EQ(with_line_ends_of("a\r\nb\nc\n", "a\nb\nc\nd\n"), "a\r\nb\nc\nd\n");
}

TEST(LineEnds, AnEndAtTheEndOfTheFileIsAsWritten)
{
    EXPECT_EQ(with_line_ends_of("a\nb\n", "a\nb"), "a\nb");
    EXPECT_EQ(with_line_ends_of("a\r\nb", "a\nb\n"), "a\r\nb\r\n");
}

TEST(LineEnds, AFileWithoutAnyTakesTheTextAsItIs)
{
    EXPECT_EQ(with_line_ends_of("", "a\r\nb\n"), "a\r\nb\n");
    EXPECT_EQ(with_line_ends_of("one", "a\nb\n"), "a\nb\n");
    EXPECT_EQ(with_line_ends_of("a\r\n", ""), "");
}

RC_GTEST_PROP(LineEnds, WhatWasNotChangedIsWrittenAsItWas, ())
{
    const auto pieces = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("a", "b", "", "\n", "\r\n", "\r"));
    std::string before;
    for (const auto& piece : pieces)
        before += piece;
    std::string shown;  // as an editor has it: every end is one character
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] == '\n' && i > 0 && before[i - 1] == '\r') continue;
        shown += before[i] == '\r' ? '\n' : before[i];
    }
    RC_ASSERT(with_line_ends_of(before, shown) == before);
}

}  // namespace
}  // namespace ponk::engine
