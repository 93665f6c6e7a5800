// SPDX-License-Identifier: Apache-2.0
#include "model/tracking.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace ponk::model {
namespace {

std::string golden()
{
    std::ifstream file(PONK_SOURCE "/tests/golden/relay.json");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(Tracking, IsReadFromTheGoldenFileAndWrittenLikeIt)
{
    const auto tracking = parse_tracking(golden());

    ASSERT_TRUE(tracking);
    EXPECT_EQ(tracking->experiment_name, "iris");
    EXPECT_EQ(tracking->started, 1700000000000);
    ASSERT_EQ(tracking->tags.size(), 1U);
    EXPECT_EQ(tracking->tags[0].second, "x");
    EXPECT_EQ(to_text(*tracking), golden());
}

TEST(Tracking, OfNoRunOrAnotherVersionIsDamaged)
{
    for (const auto* text :
         {"", "[]", "{}", R"({"relay":1})", R"({"relay":2,"run":"r","token":"t"})"})
        EXPECT_FALSE(parse_tracking(text)) << text;
}

}  // namespace
}  // namespace ponk::model
