// SPDX-License-Identifier: Apache-2.0
#include "snapshot/link_way.hpp"

#include <gtest/gtest.h>

#include <map>

namespace ponk::snapshot {
namespace {

// "outside", "circle", or the place.
std::string way(const std::map<std::string, std::string>& links, const std::string& path)
{
    const auto found = follow_links(path, [&](const std::string& place) {
        const auto at = links.find(place);
        return at == links.end() ? std::string_view() : std::string_view(at->second);
    });
    if (found.end == LinkWay::End::outside) return "outside";
    return found.end == LinkWay::End::circle ? "circle" : found.path;
}

TEST(LinkWay, GoesWhereTheTextOfOneLinkSays)
{
    EXPECT_EQ(way({{"a/b", "../c"}}, "a/b"), "c");
    EXPECT_EQ(way({{"a", "b/../c"}}, "a"), "c");
    EXPECT_EQ(way({{"a/b", ".//./x/"}}, "a/b"), "a/x");
    EXPECT_EQ(way({{"a/b", ".."}}, "a/b"), "");
    EXPECT_EQ(way({{"a", "../c"}}, "a"), "outside");
    EXPECT_EQ(way({{"a/b", "x/../../../c"}}, "a/b"), "outside");
    EXPECT_EQ(way({{"a", "/etc"}}, "a"), "outside");
}

TEST(LinkWay, GoesUpFromWhereALinkPointsNotFromWhereItIs)
{
    EXPECT_EQ(way({{"a/b/s", "../.."}, {"t", "a/b/s/../victim"}}, "t"), "outside");
    EXPECT_EQ(way({{"a/b/s", "../.."}, {"t", "a/b/s/x"}}, "t"), "x");
    EXPECT_EQ(way({{"s", "a/b/c"}, {"t", "s/../d"}}, "t"), "a/b/d");
    EXPECT_EQ(way({{"s", "/etc"}, {"t", "s/passwd"}}, "t"), "outside");
}

TEST(LinkWay, EndsInCircles)
{
    EXPECT_EQ(way({{"a", "b"}, {"b", "a"}}, "a"), "circle");
    EXPECT_EQ(way({{"a", "a/x"}}, "a"), "circle");
}

TEST(LinkWay, FollowsTheLinksOfAManifest)
{
    const auto link = [](std::string path, std::string target) {
        ManifestEntry entry;
        entry.kind = EntryKind::link;
        entry.path = std::move(path);
        entry.target = std::move(target);
        return entry;
    };
    ManifestEntry folder;
    folder.kind = EntryKind::folder;
    folder.path = "a";
    const auto tree = Manifest::from_entries({folder, link("a/s", ".."), link("t", "a/s/../v")});
    ASSERT_TRUE(tree);

    EXPECT_EQ(follow_links("a/s", *tree).end, LinkWay::End::inside);
    EXPECT_EQ(follow_links("t", *tree).end, LinkWay::End::outside);
}

}  // namespace
}  // namespace ponk::snapshot
