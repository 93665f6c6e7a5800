// SPDX-License-Identifier: Apache-2.0
#include "base/like.hpp"
#include "base/work_count.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ponk {
namespace {

bool like(std::string_view pattern, std::string_view text)
{
    return matches_like(pattern, text, Letters::exact);
}

bool ilike(std::string_view pattern, std::string_view text)
{
    return matches_like(pattern, text, Letters::ascii_folded);
}

TEST(Like, PercentIsAnyText)
{
    EXPECT_TRUE(like("%", ""));
    EXPECT_TRUE(like("%", "abc"));
    EXPECT_TRUE(like("a%", "a"));
    EXPECT_TRUE(like("%b%", "abc"));
    EXPECT_TRUE(like("a%c", "abbc"));
    EXPECT_TRUE(like("a%b%c", "abbxc"));
    EXPECT_TRUE(like("%%", ""));
    EXPECT_FALSE(like("a%", "ba"));
    EXPECT_FALSE(like("a%c", "abb"));
    EXPECT_FALSE(like("%ab", "abc"));
}

TEST(Like, UnderscoreIsOneCharacter)
{
    EXPECT_TRUE(like("a_c", "abc"));
    EXPECT_TRUE(like("a_c", "a\u00e9c"));
    EXPECT_TRUE(like("_", "\U0001f600"));
    EXPECT_TRUE(like("%_", "ab"));
    EXPECT_TRUE(like("_", "\xff"));
    EXPECT_FALSE(like("_", ""));
    EXPECT_FALSE(like("_", "ab"));
    EXPECT_FALSE(like("__", "\u00e9"));
    EXPECT_FALSE(like("a%_", "a"));
}

TEST(Like, EverythingElseIsItself)
{
    EXPECT_TRUE(like("", ""));
    EXPECT_TRUE(like("a*[b]?", "a*[b]?"));
    EXPECT_TRUE(like("a\\%", "a\\bc"));
    EXPECT_FALSE(like("", "a"));
    EXPECT_FALSE(like("a", ""));
    EXPECT_FALSE(like("a\\%", "a%"));
}

TEST(Like, OnlyIlikeFoldsAndOnlyAscii)
{
    EXPECT_FALSE(like("A%", "abc"));
    EXPECT_TRUE(ilike("A%C", "abc"));
    EXPECT_TRUE(ilike("%oO", "fOo"));
    EXPECT_FALSE(ilike("\u00c9", "\u00e9"));
    EXPECT_FALSE(ilike("[", "{"));
    EXPECT_FALSE(ilike("@", "`"));
}

TEST(Like, LongPatternsAreAsShortOnes)
{
    std::string pattern;
    for (int i = 0; i < 300; ++i)
        pattern += "%a_";
    EXPECT_FALSE(like(pattern + "b", std::string(3'000, 'a')));
    EXPECT_TRUE(like(pattern, std::string(3'000, 'a')));
    EXPECT_TRUE(like(std::string(600, '_'), std::string(600, 'a')));
    EXPECT_FALSE(like(std::string(600, '_'), std::string(601, 'a')));
    EXPECT_TRUE(ilike("%" + std::string(200, 'B'), std::string(300, 'b')));
    std::string smiles;
    for (int i = 0; i < 130; ++i)
        smiles += "\U0001f600";
    EXPECT_TRUE(like(std::string(130, '_'), smiles));
    EXPECT_FALSE(like("%_" + std::string(130, '_'), smiles));
}

// A matcher that goes back after each try takes the product of both lengths.
TEST(Like, TakesAStepPerByteWhateverThePattern)
{
    const std::string text(8'000, 'a');
    std::string many;
    for (int i = 0; i < 250; ++i)
        many += "%a";
    for (const auto& pattern : {"%" + std::string(498, 'a') + "b",
                                "%" + std::string(498, 'a') + "b%",
                                "%" + std::string(498, '_') + "b",
                                many + "b",
                                many}) {
        const WorkCount work;
        EXPECT_EQ(like(pattern, text), pattern == many);
        EXPECT_LE(work.steps(), text.size() * (pattern.size() / 64 + 1)) << pattern;
    }
}

}  // namespace
}  // namespace ponk
