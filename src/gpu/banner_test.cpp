// SPDX-License-Identifier: Apache-2.0
// Compared with tests/golden/gpu/banner.txt; PONK_UPDATE_GOLDEN=1 rewrites it.
#include "base/text.hpp"
#include "gpu/banner.hpp"
#include "os/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace ponk::gpu {
namespace {

Device h200()
{
    return {.uuid = "GPU-1f0e2c2e-0000-4a64-9f6b-64f1f0a7cafe",
            .card = "",
            .index = 5,
            .name = "NVIDIA H200",
            .vendor = "nvidia",
            .compute_capability = "9.0",
            .clock_mhz = 1980,
            .pci_bus_id = "0000:0B:00.0",
            .memory_total = 150'754'820'096,
            .memory_free = 150'120'431'616,
            .nodes = {"/dev/nvidia5"}};
}

TEST(Banner, EachDeviceIsToldWithAllThatTheDriverKnows)
{
    auto instance = h200();
    instance.uuid = "MIG-4d1e6f0a-0000-5c1e-a7b1-2f7b1a0bbeef";
    instance.card = h200().uuid;
    instance.name = "NVIDIA H200 MIG 1g.18gb";
    auto bare = Device();
    bare.uuid = "GPU-2";
    const auto path = os::Path(PONK_GOLDEN) / "gpu" / "banner.txt";
    const auto text = join(banner({h200(), instance, bare}, "580.65.06", "13.0"), "");

    if (std::getenv("PONK_UPDATE_GOLDEN")) {
        ASSERT_TRUE(os::make_directories(path.parent_path(), 0755));
        ASSERT_TRUE(os::replace_file(path, text, 0644));
    }
    EXPECT_EQ(text, os::read_file(path).value());
}

TEST(Banner, NothingInItClaimsUse)
{
    const auto text = lower(banner({h200()}, "580.65.06", "13.0").at(0));
    for (const char* word : {"using", "used", "in use", "confirmed", "found device"})
        EXPECT_THAT(text, testing::Not(testing::HasSubstr(word)));
    EXPECT_TRUE(banner({}, "580.65.06", "13.0").empty());
}

TEST(Banner, NamesCannotCommandTheTerminal)
{
    auto device = h200();
    device.name = "a\x1b[2Jb";
    EXPECT_EQ(banner({device}, "1", "2").at(0).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace ponk::gpu
