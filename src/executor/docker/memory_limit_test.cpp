// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/memory_limit.hpp"
#include "executor/docker/run_arguments.hpp"

#include <gtest/gtest.h>

namespace ponk::executor::docker {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

dockerapi::Info machine(std::int64_t memory)
{
    dockerapi::Info info;
    info.memory = memory;
    info.limits_memory = true;
    return info;
}

std::int64_t limit_with(const std::vector<std::string>& arguments)
{
    dockerapi::ContainerSpec container;
    EXPECT_TRUE(apply_run_arguments(arguments, container));
    limit_memory(machine(100 * gib), container);
    return memory_limit_of(container);
}

TEST(MemoryLimit, LeavesTheMachineATenthAndAtLeastHalfAGibibyte)
{
    EXPECT_EQ(default_memory_limit(machine(100 * gib)), 90 * gib);
    EXPECT_EQ(default_memory_limit(machine(2 * gib)), 2 * gib - gib / 2);
    EXPECT_EQ(default_memory_limit(machine(gib / 2)), gib / 4);
    EXPECT_EQ(default_memory_limit(machine(0)), 0);
    auto without = machine(gib);
    without.limits_memory = false;
    EXPECT_EQ(default_memory_limit(without), 0);
}

TEST(MemoryLimit, WhatTheUserSaysCounts)
{
    EXPECT_EQ(limit_with({}), 90 * gib);
    EXPECT_EQ(limit_with({"--memory=200g"}), 200 * gib);
    EXPECT_EQ(limit_with({"-m", "0"}), 0);
    EXPECT_EQ(limit_with({"--memory-reservation=1g"}), 0);
}

}  // namespace
}  // namespace ponk::executor::docker
