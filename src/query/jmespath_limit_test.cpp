// SPDX-License-Identifier: Apache-2.0
#include "query/query_rows.hpp"

namespace ponk::query {
namespace {

std::string repeated(std::string_view text, int times)
{
    std::string out;
    for (int i = 0; i < times; ++i)
        out += text;
    return out;
}

bool starts(const std::string& text, std::string_view beginning)
{
    return text.starts_with(beginning);
}

TEST(JmespathLimits, DeepNestingIsRefusedNotFollowed)
{
    for (const char* opening :
         {"[", "(", "!", "{a:", "abs(", "[?", "a[?", "[*]", "a.*.", "max(@,&"}) {
        const auto parsed = parse_jmespath(repeated(opening, 2'000));

        ASSERT_FALSE(parsed) << opening;
        EXPECT_NE(parsed.error().message().find("nested deeper than 200 levels"), std::string::npos)
            << opening << ": " << parsed.error().message();
    }
    EXPECT_FALSE(parse_jmespath(std::string(100'000, '[')));
    EXPECT_TRUE(parse_jmespath(repeated("(", 150) + "a" + repeated(")", 150)));
}

TEST(JmespathLimits, LongChainsAreNoNesting)
{
    EXPECT_EQ(search("a" + repeated(".a", 4'000), Json()), "null");
    EXPECT_EQ(search("a" + repeated(" || a", 4'000), Json()), "null");
    EXPECT_EQ(search("a" + repeated(" && a", 4'000), Json()), "null");
    EXPECT_EQ(search("@" + repeated("|@", 4'000), Json(5)), "5");
    EXPECT_EQ(search("@" + repeated("[0]", 4'000), Json()), "null");
    EXPECT_EQ(search("@" + repeated("[]", 4'000), Json()), "null");
}

TEST(JmespathLimits, LongExpressionsAreRefused)
{
    const auto parsed = parse_jmespath(std::string(70'000, 'a'));

    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().message(), "syntax: the expression has 70000 bytes, more than 65536");
}

TEST(JmespathLimits, ResultsThatDoubleAtEachStepEndInAnError)
{
    const auto lists = "[@,@]" + repeated(" | [@,@]", 100);
    const auto texts = "[@,@] | join('x', @)" + repeated(" | [@,@] | join('x', @)", 100);
    const auto equal = repeated("[@,@] | ", 60) + "[@,@] | [0] == [1]";
    const QueryLimits little{.work = 100'000};

    EXPECT_TRUE(starts(search(lists, Json(1), little), "too-much-work at column 1"));
    EXPECT_TRUE(starts(search(texts, Json("abcdefgh"), little), "too-much-work at column "));
    EXPECT_TRUE(starts(search(equal, Json(1), little), "too-much-work at column "));
}

TEST(JmespathLimits, ResultsThatNestAtEachStepEndInAnError)
{
    EXPECT_TRUE(
        starts(search("[@]" + repeated("|[@]", 1'000), Json(1)), "too-much-work at column "));
    EXPECT_TRUE(
        starts(search("{a:@}" + repeated("|{a:@}", 1'000), Json(1)), "too-much-work at column "));
}

TEST(JmespathLimits, WideObjectsAreComparedAndMergedQuickly)
{
    JsonObject members;
    for (int i = 0; i < 20'000; ++i)
        members.append("key" + std::to_string(i), Json(i));
    const Json wide(JsonArray{members, members});

    EXPECT_EQ(search("[0] == [1]", wide), "true");
    EXPECT_EQ(search("length(merge([0], [1]))", wide), "20000");
    EXPECT_EQ(search("length(sort(keys([0])))", wide), "20000");
    EXPECT_EQ(search("length(sort_by(values([0]), &@))", wide), "20000");
}

TEST(JmespathLimits, ACallerMayAllowLess)
{
    const auto parsed = parse_jmespath("[*].[@]", {.work = 100, .work_per_value = 0});
    ASSERT_TRUE(parsed);

    EXPECT_TRUE(parsed->search(Json(JsonArray(10, Json(1)))));
    EXPECT_FALSE(parsed->search(Json(JsonArray(100, Json(1)))));
}

TEST(JmespathLimits, ALargeDocumentMayBeSearchedAndASmallOneNotBlownUp)
{
    const QueryLimits little{.work = 1000};
    const Json large(JsonArray(5'000, Json(1)));
    const auto doubled = repeated("[@,@] | ", 12) + "@";

    EXPECT_EQ(search("length(sort([*]))", large, little), "5000");
    EXPECT_EQ(search("length([@,@][])", large, little), "10000");
    EXPECT_TRUE(starts(search(doubled, Json(1), little), "too-much-work at column "));
    EXPECT_TRUE(starts(search(doubled, large, little), "too-much-work at column "));
}

}  // namespace
}  // namespace ponk::query
