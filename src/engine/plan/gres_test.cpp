// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/gres.hpp"

#include <gtest/gtest.h>

namespace ponk::engine {
namespace {

TEST(Gres, AnotherNumberKeepsTheTypeAndWhatIsNoGpu)
{
    EXPECT_EQ(gres_with_gpus("", 2), "gpu:2");
    EXPECT_EQ(gres_with_gpus("gpu", 2), "gpu:2");
    EXPECT_EQ(gres_with_gpus("gpu:4", 2), "gpu:2");
    EXPECT_EQ(gres_with_gpus("gpu:a100", 2), "gpu:a100:2");
    EXPECT_EQ(gres_with_gpus("license:1, gpu:a100:4(S:0-1)", 2), "gpu:a100:2,license:1");
    EXPECT_EQ(gres_with_gpus("shard:8", 1), "gpu:1") << "whole ones were requested";
    EXPECT_EQ(gres_with_gpus("gpu:a100:4", 0), "");
    EXPECT_EQ(gres_with_gpus("license:1,gpu:4", 0), "license:1");
}

TEST(Gres, GpusAreCountedWhereverTheyAreAskedFor)
{
    const auto count = [](std::string gres, std::vector<std::string> options = {}) {
        return gpus_of({.partition = {},
                        .account = {},
                        .qos = {},
                        .gres = std::move(gres),
                        .options = std::move(options)});
    };
    EXPECT_EQ(count(""), 0U);
    EXPECT_EQ(count("gpu"), 1U);
    EXPECT_EQ(count("gpu:a100:2"), 2U);
    EXPECT_EQ(count("gpu:a100:2,gpu:h100:1,license:7"), 3U);
    EXPECT_EQ(count("shard:8"), 1U);
    EXPECT_EQ(count("license:7"), 0U);
    EXPECT_EQ(count("", {"--mem=1G", "--gpus=3"}), 3U);
    EXPECT_EQ(count("", {"--gpus-per-node=a100:2,h100:1"}), 3U);
    EXPECT_EQ(count("", {"--tres-per-task=cpu=4,gres/gpu:2"}), 2U);
    EXPECT_EQ(count("", {"--gpu-bind=closest", "--constraint=gpu"}), 0U);
}

}  // namespace
}  // namespace ponk::engine
