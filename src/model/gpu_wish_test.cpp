// SPDX-License-Identifier: Apache-2.0
#include "model/gpu_wish.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(GpuWish, IsReadAndWrittenInTheSameWords)
{
    for (const auto* text :
         {"none", "all", "1", "16", "GPU-1,GPU-2", "0,1", "0,", "0-7,", "all,", "MIG-7f"}) {
        const auto wish = parse_wish(text);
        ASSERT_TRUE(wish) << text;
        EXPECT_EQ(to_text(*wish), text);
    }
    EXPECT_EQ(parse_wish("0")->kind, GpuWish::Kind::none);
    EXPECT_EQ(parse_wish(" 2 ")->count, 2U);
    EXPECT_THAT(parse_wish("GPU-1, GPU-2")->uuids, ElementsAre("GPU-1", "GPU-2"));
}

TEST(GpuWish, WordsMayBeInAnyCase)
{
    EXPECT_EQ(parse_wish("ALL")->kind, GpuWish::Kind::all);
    EXPECT_EQ(parse_wish("None")->kind, GpuWish::Kind::none);
}

TEST(GpuWish, WordsThatAreNoneAreRefusedWithWhatIsAllowed)
{
    for (const auto* text : {"",
                             "-1",
                             "5000",
                             "GPU-1,,GPU-2",
                             ",",
                             "two words",
                             "GPU-\x1b[2J",
                             "1.5",
                             "true",
                             "Off",
                             "two",
                             "nnone",
                             "al"}) {
        const auto wish = parse_wish(text);
        ASSERT_FALSE(wish) << text;
        EXPECT_EQ(wish.error().kind(), ErrorKind::invalid_argument);
        EXPECT_THAT(wish.error().hint(), HasSubstr("'all'"));
        EXPECT_EQ(wish.error().message().find('\x1b'), std::string::npos);
    }
    EXPECT_THAT(parse_wish("nnone").error().message(), HasSubstr("did you mean 'none'?"));
    EXPECT_THAT(parse_wish("two").error().message(), HasSubstr("digits"));
}

TEST(GpuWish, OtherWordsMayBeTheBeginningOfAName)
{
    for (const auto* text : {"GPU", "G", "MIG-", "gpu-6f", "tpu-0", "6f0a", "x"})
        EXPECT_EQ(parse_wish(text)->kind, GpuWish::Kind::named) << text;
}

}  // namespace
}  // namespace ponk::model
