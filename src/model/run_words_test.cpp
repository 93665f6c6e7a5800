// SPDX-License-Identifier: Apache-2.0
#include "model/run_words.hpp"

#include <gtest/gtest.h>

namespace ponk::model {
namespace {

TEST(GpuVerdict, IsUnknownForWhoAskedAndWasNotJudged)
{
    model::Run run;
    EXPECT_EQ(gpu_verdict(run), "not-requested");
    run.configuration = JsonObject{{"gpu", JsonObject{{"wish", "all"}, {"asked", false}}}};
    EXPECT_EQ(gpu_verdict(run), "not-requested");
    run.configuration = JsonObject{{"gpu", JsonObject{{"wish", "1"}, {"asked", true}}}};
    EXPECT_EQ(gpu_verdict(run), "unknown");
    run.configuration = JsonObject{{"gpu", JsonObject{{"wish", "all"}, {"required", true}}}};
    EXPECT_EQ(gpu_verdict(run), "unknown");
    run.gpu = JsonObject{{"phase", "queued"}};
    EXPECT_EQ(gpu_verdict(run), "unknown");
    run.gpu = JsonObject{{"phase", "ended"}, {"verdict", "idle"}};
    EXPECT_EQ(gpu_verdict(run), "idle");
}

}  // namespace
}  // namespace ponk::model
