// SPDX-License-Identifier: Apache-2.0
#include "query/search/filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::query::search {
namespace {

using testing::HasSubstr;

std::string repeated(std::string_view text, int times)
{
    std::string out;
    for (int i = 0; i < times; ++i)
        out += text;
    return out;
}

std::string message(const std::string& text)
{
    const auto filter = parse_filter(runs, text);
    return filter ? "accepted" : filter.error().message();
}

TEST(FilterLimits, ALongTextIsRefused)
{
    EXPECT_EQ(message(std::string(300'000, ' ')),
              "filter: the text has 300000 bytes, more than 262144");
    EXPECT_EQ(message("params.p = '" + std::string(250'000, 'x') + "'"), "accepted");
}

TEST(FilterLimits, ComparisonsAreCounted)
{
    EXPECT_EQ(message(repeated("metrics.m > 1 AND ", 100)), "accepted");
    EXPECT_THAT(message(repeated("metrics.m > 1 AND ", 101)),
                HasSubstr("column 1801: more than 100 comparisons"));
}

TEST(FilterLimits, ValuesOfListsAreCounted)
{
    EXPECT_EQ(message("run_id IN (" + repeated("'a',", 10'000) + ")"), "accepted");
    EXPECT_THAT(message("run_id IN (" + repeated("'a',", 6'000) + ") AND run_id IN (" +
                        repeated("'a',", 4'001) + ")"),
                HasSubstr("more than 10000 values in lists"));
}

TEST(FilterLimits, PatternsAreShort)
{
    EXPECT_EQ(message("params.p LIKE '" + repeated("\u00e9", 8'000) + "'"), "accepted");
    EXPECT_THAT(message("params.p LIKE '" + std::string(8'001, 'x') + "'"),
                HasSubstr("at most 8000 characters"));
}

TEST(FilterLimits, NothingNests)
{
    for (const char* piece : {"(", ")", "NOT ", "AND ", "`", "'", "\"", "metrics.", ",", "-", "1e"})
        static_cast<void>(parse_filter(runs, repeated(piece, 40'000)));
    EXPECT_EQ(message(repeated("AND ", 60'000)), "accepted");
}

TEST(FilterLimits, OrdersAreCounted)
{
    std::vector<std::string> entries;
    for (int i = 0; i < 10; ++i)
        entries.push_back("metrics.m" + std::to_string(i));
    EXPECT_TRUE(parse_order_by(runs, entries));

    entries.emplace_back("metrics.x");

    ASSERT_FALSE(parse_order_by(runs, entries));
    EXPECT_EQ(parse_order_by(runs, entries).error().message(),
              "order_by: 11 entries, more than 10");
}

}  // namespace
}  // namespace ponk::query::search
