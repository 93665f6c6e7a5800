// SPDX-License-Identifier: Apache-2.0
#include "model/gpu_selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(GpuSelection, IsReadAndWrittenInTheSameWords)
{
    for (const auto* text :
         {"none", "all", "1", "16", "GPU-1,GPU-2", "0,1", "0,", "0-7,", "all,", "MIG-7f"}) {
        const auto selection = parse_gpu_selection(text);
        ASSERT_TRUE(selection) << text;
        EXPECT_EQ(to_text(*selection), text);
    }
    EXPECT_EQ(parse_gpu_selection("0")->kind, GpuSelection::Kind::none);
    EXPECT_EQ(parse_gpu_selection(" 2 ")->count, 2U);
    EXPECT_THAT(parse_gpu_selection("GPU-1, GPU-2")->uuids, ElementsAre("GPU-1", "GPU-2"));
}

TEST(GpuSelection, WordsMayBeInAnyCase)
{
    EXPECT_EQ(parse_gpu_selection("ALL")->kind, GpuSelection::Kind::all);
    EXPECT_EQ(parse_gpu_selection("None")->kind, GpuSelection::Kind::none);
}

TEST(GpuSelection, WordsThatAreNoneAreRefusedWithWhatIsAllowed)
{
    for (const auto* text : {"",
                             "-1",
                             "5000",
                             "GPU-1,,GPU-2",
                             ",",
                             "two words",
                             "GPU-\x1b[2J",
                             "1.5",
                             "3x",
                             "2gpus",
                             "true",
                             "Off",
                             "two",
                             "nnone",
                             "al"}) {
        const auto selection = parse_gpu_selection(text);
        ASSERT_FALSE(selection) << text;
        EXPECT_EQ(selection.error().kind(), ErrorKind::invalid_argument);
        EXPECT_THAT(selection.error().hint(), HasSubstr("'all'"));
        EXPECT_EQ(selection.error().message().find('\x1b'), std::string::npos);
    }
    EXPECT_THAT(parse_gpu_selection("nnone").error().message(), HasSubstr("did you mean 'none'?"));
    EXPECT_THAT(parse_gpu_selection("two").error().message(), HasSubstr("digits"));
}

TEST(GpuSelection, OtherWordsMayBeTheBeginningOfAName)
{
    for (const auto* text : {"GPU", "G", "MIG-", "gpu-6f", "tpu-0", "6f0a", "x"})
        EXPECT_EQ(parse_gpu_selection(text)->kind, GpuSelection::Kind::named) << text;
}

}  // namespace
}  // namespace ponk::model
