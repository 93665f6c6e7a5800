// SPDX-License-Identifier: Apache-2.0
#include "base/id.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ponk {
namespace {

TEST(RunId, IsUniqueAndReadsBack)
{
    std::set<RunId> seen;
    for (int i = 0; i < 1000; ++i) {
        const auto id = RunId::make();
        EXPECT_TRUE(seen.insert(id).second);
        EXPECT_EQ(*RunId::parse(id.text()), id);
        EXPECT_EQ(id.text()[12], '7');
    }
}

TEST(RunId, RefusesOtherTexts)
{
    for (const char* text :
         {"", "123", "../../../../../../../etc/passwd12", "G0000000000000000000000000000000"})
        EXPECT_FALSE(RunId::parse(text)) << text;
}

}  // namespace
}  // namespace ponk
