// SPDX-License-Identifier: Apache-2.0
#include "gpu/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::gpu {
namespace {

Device card()
{
    return {.uuid = "GPU-1",
            .card = "",
            .index = 3,
            .name = "Card",
            .vendor = "nvidia",
            .compute_capability = "9.0",
            .clock_mhz = 1980,
            .pci_bus_id = "0000:0B:00.0",
            .memory_total = 150'754'820'096,
            .memory_free = 150'000'000'000,
            .nodes = {"/dev/nvidia3"}};
}

TEST(Device, InventorySurvivesTheTripThroughJson)
{
    const Inventory inventory{.way = "nvml",
                              .driver_version = "580.1",
                              .cuda_version = "13.0",
                              .devices = {card()},
                              .problem = Error(ErrorKind::unavailable, "half", "do this")};

    const auto again = inventory_from(to_json(inventory));

    ASSERT_TRUE(again);
    EXPECT_EQ(to_json(*again), to_json(inventory));
    EXPECT_EQ(again->problem->hint(), "do this");
}

TEST(Device, SampleKeepsWhatIsAbsentAbsent)
{
    Sample sample{.time = 5, .devices = {DeviceSample()}};
    sample.devices[0].uuid = "GPU-1";
    sample.devices[0].utilisation = 0.0;
    sample.devices[0].processes = {{.pid = 7, .memory = 8, .sm_utilisation = 0.5, .sm_span_ms = 3},
                                   {.pid = 9, .ended = true}};
    sample.devices[0].xids = {79};

    const auto again = sample_from(to_json(sample));

    ASSERT_TRUE(again);
    EXPECT_EQ(to_json(*again), to_json(sample));
    EXPECT_TRUE(again->devices[0].utilisation);
    EXPECT_FALSE(again->devices[0].sm_activity);
}

TEST(Device, NameThatLeavesItsFolderIsRefused)
{
    for (const char* uuid : {"", "../x", "a/b"}) {
        auto device = card();
        device.uuid = uuid;
        EXPECT_FALSE(device_from(to_json(device))) << uuid;
    }
}

}  // namespace
}  // namespace ponk::gpu
