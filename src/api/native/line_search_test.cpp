// SPDX-License-Identifier: Apache-2.0
#include "api/native/line_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ponk::api {
namespace {

using Case = LineSearch::Case;

std::string lowered(std::string text)
{
    for (auto& letter : text) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + 32);
    }
    return text;
}

// Line by line.
std::vector<LinePlace> plain(std::string all, std::string text, Case letters)
{
    if (letters == Case::folded) {
        all = lowered(all);
        text = lowered(text);
    }
    std::vector<LinePlace> found;
    std::uint64_t line = 0;
    for (std::size_t begin = 0; begin < all.size(); ++line) {
        const auto end = std::min(all.find('\n', begin), all.size());
        const auto at = std::string_view(all).substr(begin, end - begin).find(text);
        if (at != std::string_view::npos) found.push_back({begin + at, line, begin});
        begin = end + 1;
    }
    return found;
}

TEST(LineSearchTest, FindsWhatEachLineHasHoweverItComes)
{
    for (unsigned seed = 0; seed < 2000; ++seed) {
        std::mt19937 random(seed);
        const char letters[] = "aAbB\n";
        std::string all;
        for (std::size_t left = random() % 400; left > 0; --left)
            all += letters[random() % (seed % 3 == 0 ? 4 : 5)];
        std::string text;
        for (auto left = 1 + random() % 4; left > 0; --left)
            text += letters[random() % 4];
        const auto which = seed % 2 == 0 ? Case::exact : Case::folded;
        LineSearch search(text, which, {}, 1000);
        for (std::size_t at = 0; at < all.size();) {
            const auto size = 1 + random() % 50;
            search.feed(std::string_view(all).substr(at, size));
            at += size;
        }
        static_cast<void>(search.finish());
        EXPECT_EQ(search.found(), plain(all, text, which)) << seed;
    }
}

TEST(LineSearchTest, GoesOnWhereAnotherEnded)
{
    std::mt19937 random(5);
    std::string all;
    for (int i = 0; i < 3000; ++i)
        all += random() % 3 == 0 ? "needle " + std::to_string(i) + " needle\n" : "hay\n";
    std::vector<LinePlace> found;
    LinePlace place;
    for (int turn = 0; turn < 10'000 && place.offset < all.size(); ++turn) {
        LineSearch search("NEEDLE", Case::folded, place, 7);
        search.feed(std::string_view(all).substr(place.offset, 100 + random() % 200));
        EXPECT_LE(search.found().size(), 7U);
        found.insert(found.end(), search.found().begin(), search.found().end());
        const auto last = place;
        place = search.place();
        if (place == last) place = search.finish();
    }
    EXPECT_EQ(found, plain(all, "needle", Case::exact));
}

TEST(LineSearchTest, ALineWithoutEndIsNotKept)
{
    LineSearch search("needle", Case::exact, {}, 10);
    const std::string hay(100'000, 'n');
    for (int i = 0; i < 30; ++i)
        search.feed(hay);
    EXPECT_GT(search.place().offset, 1'900'000U);
    search.feed("need");
    search.feed("le" + hay + "needle\nneedle");
    EXPECT_EQ(search.finish().line, 1U);
    ASSERT_EQ(search.found().size(), 2U);
    EXPECT_EQ(search.found()[0], (LinePlace{3'000'000, 0, 0}));
    EXPECT_EQ(search.found()[1].line, 1U);
    EXPECT_EQ(search.found()[1].begin, 3'100'013U);
}

std::vector<std::uint64_t> lines_of(const std::string& expression,
                                    std::string_view all,
                                    std::size_t piece,
                                    Case letters = Case::exact)
{
    LineSearch search(LineExpression::parse(expression, letters).value(), {}, 1000);
    for (std::size_t at = 0; at < all.size(); at += piece)
        search.feed(all.substr(at, piece));
    static_cast<void>(search.finish());
    std::vector<std::uint64_t> lines;
    for (const auto& found : search.found()) {
        EXPECT_EQ(found.line, std::count(all.begin(), all.begin() + found.begin, '\n'));
        EXPECT_TRUE(found.begin == 0 || all[found.begin - 1] == '\n');
        lines.push_back(found.line);
    }
    return lines;
}

TEST(LineSearchTest, AnExpressionIsFoundInEachLineHoweverItComes)
{
    const std::string all = "loss=0.5\n\nLoss=12\nend loss=\nloss=7";
    using Lines = std::vector<std::uint64_t>;
    for (std::size_t piece = 1; piece <= all.size(); ++piece) {
        EXPECT_EQ(lines_of("loss=\\d", all, piece), (Lines{0, 4})) << piece;
        EXPECT_EQ(lines_of("loss=\\d", all, piece, Case::folded), (Lines{0, 2, 4})) << piece;
        EXPECT_EQ(lines_of("^loss=\\d$", all, piece), (Lines{4})) << piece;
        EXPECT_EQ(lines_of("^$", all, piece), (Lines{1})) << piece;
        EXPECT_EQ(lines_of("x*", all, piece), (Lines{0, 1, 2, 3, 4})) << piece;
        EXPECT_EQ(lines_of("=[^0]*L", all, piece), (Lines{})) << "never over the end of a line";
        EXPECT_EQ(lines_of("=\\s", all, piece), (Lines{})) << piece;
    }
    EXPECT_EQ(lines_of("x*", "a\nb\n", 100), (Lines{0, 1})) << "no line behind the last one";
}

TEST(LineSearchTest, AnExpressionGoesOnWhereALineGrew)
{
    const auto expression = LineExpression::parse("^step \\d+ done$", Case::exact).value();
    LineSearch first(expression, {}, 10);
    first.feed("begin\nstep 4");
    const auto place = first.finish();
    EXPECT_TRUE(first.found().empty());
    EXPECT_EQ(place, (LinePlace{6, 1, 6}));
    LineSearch second(expression, place, 10);
    second.feed("step 42 done\n");
    ASSERT_EQ(second.found().size(), 1U);
    EXPECT_EQ(second.found()[0], (LinePlace{6, 1, 6}));
}

TEST(LineSearchTest, AnExpressionThatIsNoneSaysWhatIsWrong)
{
    for (const char* text : {"(", "a**", "[z-a]", "(a)\\1", "(?=a)", "(x{1000}){1000}"}) {
        const auto refused = LineExpression::parse(text, Case::exact);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().kind(), ErrorKind::invalid_argument);
        EXPECT_NE(refused.error().message().find("not a regular expression"), std::string::npos);
        EXPECT_EQ(refused.error().message().find("(?m)"), std::string::npos);
    }
}

TEST(LineSearchTest, AnExpressionIsFoundInALineTooLongToKeep)
{
    const std::string all =
        std::string(5 << 20, 'a') + "needle42" + std::string(3 << 20, 'b') + "\nneedle7\n";
    EXPECT_EQ(lines_of("needle\\d", all, 65'536), (std::vector<std::uint64_t>{0, 1}));
    // An expression that backtracking would not end with.
    EXPECT_TRUE(lines_of("(a+)+$x", all, 65'536).empty());
}

}  // namespace
}  // namespace ponk::api
