// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/xml.hpp"

#include <gtest/gtest.h>

namespace ponk::gpu {
namespace {

TEST(Xml, ElementsAttributesAndEntitiesAreRead)
{
    const auto root =
        parse_xml("<?xml version='1.0'?>\n<!DOCTYPE a SYSTEM \"b.dtd\"><!-- <no> -->\n"
                  "<a one=\"1\" two='&lt;2&gt;'>\n  <b> x &amp; y &unknown; </b>"
                  "<c/><b>second</b><d><![CDATA[<raw>]]></d></a>\nrest");

    ASSERT_TRUE(root) << root.error().message();
    EXPECT_EQ(root->name, "a");
    EXPECT_EQ(root->attribute("one"), "1");
    EXPECT_EQ(root->attribute("two"), "<2>");
    EXPECT_EQ(root->attribute("three"), "");
    EXPECT_EQ(root->text_at("b"), "x & y &unknown;");
    EXPECT_EQ(root->text_at("d"), "<raw>");
    EXPECT_EQ(root->children.size(), 4U);
    EXPECT_EQ(root->find("b/c"), nullptr);
}

TEST(Xml, WhatIsNoneIsRefusedWithItsPlace)
{
    for (const char* text : {"",
                             "plain words",
                             "<a>",
                             "<a><b></a></b>",
                             "</a>",
                             "<a x>",
                             "<a x=1></a>",
                             "<a x=\"1></a>",
                             "<>",
                             "<!-- no end",
                             "<a></a"}) {
        const auto root = parse_xml(text);
        ASSERT_FALSE(root) << text;
        EXPECT_EQ(root.error().kind(), ErrorKind::damaged) << text;
        EXPECT_NE(root.error().message().find("at byte"), std::string::npos) << text;
    }
}

TEST(Xml, NestingHasALimit)
{
    std::string text;
    for (int i = 0; i < 100; ++i)
        text += "<a>";
    EXPECT_FALSE(parse_xml(text));
}

}  // namespace
}  // namespace ponk::gpu
