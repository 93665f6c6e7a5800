// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/work_count.hpp"

#include <gtest/gtest.h>

namespace ponk {
namespace {

TEST(Text, KnowsUtf8FromOtherBytes)
{
    EXPECT_TRUE(is_utf8("čeština 😀"));
    EXPECT_FALSE(is_utf8("\xc0\x80"));          // overlong
    EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // surrogate
    EXPECT_FALSE(is_utf8("\xf5\x80\x80\x80"));  // past the end
    EXPECT_FALSE(is_utf8("ab\xe2\x82"));        // cut
    EXPECT_EQ(utf8_length("č\xff"), 2U);
    EXPECT_EQ(first_characters("ž\xffž", 2), "ž\xff");
    EXPECT_EQ(first_characters("abc", 250), "abc");
    EXPECT_EQ(display_width("日本e\xcc\x81"), 5U);
}

TEST(Text, ShowsControlBytes)
{
    EXPECT_EQ(printable("a\x1b[31m\n\xff"), "a\\x1b[31m\\n\\xff");
    EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");
    EXPECT_EQ(printable("a\xe2\x80\xae"
                        "b"),
              "a\\u202eb");  // right-to-left override
}

TEST(Text, QuotesForAShell)
{
    EXPECT_EQ(shell_word("plain-1.0"), "plain-1.0");
    EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_word(""), "''");
}

TEST(Text, SuggestsOnlyWhatIsNear)
{
    EXPECT_EQ(nearest("sumbit", {"submit", "status"}), "submit");
    EXPECT_EQ(nearest("framework", {"Framework", "Target"}), "Framework");
    EXPECT_EQ(nearest("zebra", {"submit", "status"}), std::nullopt);
    EXPECT_EQ(nearest("", {"submit"}), std::nullopt);
}

TEST(Text, ParsesWholeNumbersOnly)
{
    EXPECT_EQ(parse_integer("-12"), -12);
    EXPECT_EQ(parse_integer("12x"), std::nullopt);
    EXPECT_EQ(parse_integer(""), std::nullopt);
    EXPECT_EQ(parse_real("1e3"), 1000.0);
}

TEST(Text, HexRoundTrip)
{
    EXPECT_EQ(to_hex(std::string("\x00\xff", 2)), "00ff");
    EXPECT_EQ(from_hex("00ff"), std::string("\x00\xff", 2));
    EXPECT_EQ(from_hex("0g"), std::nullopt);
}

TEST(Text, SizesForPeople)
{
    EXPECT_EQ(byte_size_text(12), "12 bytes");
    EXPECT_EQ(byte_size_text(1536), "1.5 KiB");
}

TEST(Text, AHintCostsNoMoreThanItIsWorth)
{
    const std::string word(1'000, 'a');
    const std::vector<std::string> names(20'000, std::string(900, 'a') + std::string(100, 'b'));
    const WorkCount work;

    EXPECT_EQ(nearest(word, names), names[0]);
    EXPECT_EQ(nearest(std::string(1'000'000, 'a'), {std::string(1'000'000, 'a')}), std::nullopt);
    EXPECT_EQ(nearest("a", names), std::nullopt);

    EXPECT_LE(work.steps(), 2'000'000U);
}

}  // namespace
}  // namespace ponk
