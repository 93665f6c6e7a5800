// SPDX-License-Identifier: Apache-2.0
#include "api/native/line_search.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ponk::api
