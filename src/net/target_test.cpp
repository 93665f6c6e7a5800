// SPDX-License-Identifier: Apache-2.0
#include "net/target.hpp"

#include <gtest/gtest.h>

namespace ponk::net {
namespace {

TEST(Target, SplitsAndDecodes)
{
    const auto target = parse_target("/api/v1/runs/a%20b?x=1%262&y&z=");

    ASSERT_TRUE(target);
    EXPECT_EQ(target->path, (std::vector<std::string>{"api", "v1", "runs", "a b"}));
    EXPECT_EQ(target->query[0].second, "1&2");
    EXPECT_EQ(target->query.size(), 3U);
}

TEST(Target, MayNameTheHostAsProxiesAreAsked)
{
    const auto target = parse_target("HTTP://127.0.0.1:80/a/b?x=1");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->authority, "127.0.0.1:80");
    EXPECT_EQ(target->path, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(target->query[0].second, "1");
    EXPECT_EQ(parse_target("https://host")->authority, "host");
    EXPECT_TRUE(parse_target("https://host")->path.empty());
    EXPECT_FALSE(parse_target("http:///a"));
    EXPECT_FALSE(parse_target("http://host/../a"));
    EXPECT_FALSE(parse_target("ftp://host/a"));
    EXPECT_TRUE(parse_target("/a")->authority.empty());
}

TEST(Target, APlusIsASpaceInAQueryAndItselfInAPath)
{
    const auto target = parse_target("/a+b?path=my+folder/c%2Bd");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->path, std::vector<std::string>{"a+b"});
    EXPECT_EQ(target->query[0].second, "my folder/c+d");
}

TEST(Target, RefusesEverySpellingOfAWayOut)
{
    for (const char* text : {"/a/../b",
                             "/a/%2e%2e/b",
                             "/a/%2E./b",
                             "/a/..%2fb",
                             "/a/%252e%252e/b",
                             "/a//b",
                             "/a/%00",
                             "/a/b%5cc",
                             "/a/%",
                             "/a/%zz",
                             "a",
                             ""}) {
        EXPECT_FALSE(parse_target(text)) << text;
    }
}

TEST(Target, EncodingReadsBack)
{
    std::string all;
    for (int c = 1; c < 256; ++c) {
        if (c != '/' && c != '\\' && c != '%') all += static_cast<char>(c);
    }
    const auto target = parse_target("/" + percent_encode(all));
    ASSERT_TRUE(target);
    EXPECT_EQ(target->path[0], all);
}

}  // namespace
}  // namespace ponk::net
