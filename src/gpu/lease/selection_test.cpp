// SPDX-License-Identifier: Apache-2.0
#include "gpu/lease/lease_test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::gpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const Result<std::vector<Device>>& devices)
{
    std::vector<std::string> uuids;
    for (const auto& one : devices.value())
        uuids.push_back(one.uuid);
    return uuids;
}

TEST(Selection, FindsGpusByTheirBeginningAndPlace)
{
    const std::vector<Device> all{device("GPU-aa1", 0), device("GPU-ab2", 1)};

    EXPECT_THAT(names(LeaseFolder::candidates(parse_gpu_selection("gpu-AB").value(), all)),
                ElementsAre("GPU-ab2"));
    EXPECT_THAT(names(LeaseFolder::candidates(parse_gpu_selection("1,0").value(), all)),
                ElementsAre("GPU-ab2", "GPU-aa1"));
    EXPECT_THAT(names(LeaseFolder::candidates(parse_gpu_selection("all").value(), all)),
                ElementsAre("GPU-aa1", "GPU-ab2"));
    EXPECT_TRUE(LeaseFolder::candidates(parse_gpu_selection("none").value(), all)->empty());
}

TEST(Selection, WhatTheMachineDoesNotHaveIsNamed)
{
    const std::vector<Device> all{device("GPU-aa1", 0), device("GPU-ab2", 1)};
    const auto error = [&](const char* text) {
        return LeaseFolder::candidates(parse_gpu_selection(text).value(), all).error();
    };

    EXPECT_EQ(error("GPU-zz").kind(), ErrorKind::not_found);
    EXPECT_THAT(error("GPU-zz").hint(), HasSubstr("GPU-aa1"));
    EXPECT_EQ(error("7,").kind(), ErrorKind::not_found);
    EXPECT_EQ(error("3").kind(), ErrorKind::invalid_argument);
    EXPECT_THAT(error("3").message(), HasSubstr("has 2"));
    EXPECT_THAT(error("GPU-a").message(), HasSubstr("matches 2 GPUs"));
    EXPECT_THAT(error("GPU-aa,0").message(), HasSubstr("twice"));
    EXPECT_THAT(error("GPU-aa,0").hint(), HasSubstr("once"));
    EXPECT_THAT(error("x").hint(), HasSubstr("a number, 'all' or 'none'"));
    EXPECT_EQ(LeaseFolder::candidates(parse_gpu_selection("all").value(), {}).error().kind(),
              ErrorKind::not_found);
}

TEST(Selection, InstancesStandForTheirCard)
{
    // As probes list them: a card in MIG mode is not there, and places count what is.
    const std::vector<Device> all{
        device("MIG-1", 0, "GPU-1"), device("MIG-2", 1, "GPU-1"), device("GPU-2", 2)};
    const auto chosen = [&](const char* text) {
        return names(LeaseFolder::candidates(parse_gpu_selection(text).value(), all));
    };

    EXPECT_THAT(chosen("all"), ElementsAre("MIG-1", "MIG-2", "GPU-2"));
    EXPECT_FALSE(LeaseFolder::candidates(parse_gpu_selection("4").value(), all));
    EXPECT_THAT(chosen("0,"), ElementsAre("MIG-1"));
    EXPECT_THAT(chosen("1,2"), ElementsAre("MIG-2", "GPU-2"));
    EXPECT_THAT(chosen("GPU-1"), ElementsAre("MIG-1", "MIG-2"));
    EXPECT_THAT(chosen("gpu-1,GPU-2"), ElementsAre("MIG-1", "MIG-2", "GPU-2"));
    EXPECT_THAT(LeaseFolder::candidates(parse_gpu_selection("GPU-").value(), all).error().message(),
                HasSubstr("matches 2 GPUs"));
    EXPECT_THAT(
        LeaseFolder::candidates(parse_gpu_selection("MIG-1,GPU-1").value(), all).error().message(),
        HasSubstr("'MIG-1' is requested twice"));
}

}  // namespace
}  // namespace ponk::gpu
