// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/amd_probe.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::gpu {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// A machine with one card that computes and one inside the processor that does not.
class Amd : public testing::Test {
protected:
    void SetUp() override
    {
        put("sys/module/amdgpu/version", "6.8.5\n");
        const auto card = std::string("sys/class/drm/card1/device/");
        put(card + "vendor", "0x1002\n");
        put(card + "device", "0x74a1\n");
        put(card + "unique_id", "79ca3a5a81e9b8d1\n");
        put(card + "product_name", "AMD Instinct MI300X\n");
        put(card + "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:c1:00.0\n");
        put(card + "mem_info_vram_total", "206141652992\n");
        put(card + "mem_info_vram_used", "6141652992\n");
        put(card + "gpu_busy_percent", "64\n");
        put(card + "pp_dpm_sclk", "0: 132Mhz\n1: 1300Mhz *\n2: 2100Mhz\n");
        put(card + "hwmon/hwmon7/power1_average", "421000000\n");
        put(card + "hwmon/hwmon7/power1_cap", "750000000\n");
        put(card + "hwmon/hwmon7/temp1_input", "48000\n");
        put(card + "drm/card1/x", "");
        put(card + "drm/renderD128/x", "");
        put("sys/class/drm/card1-DP-1/status", "connected\n");
        put("sys/class/drm/card0/device/vendor", "0x1002\n");  // no unique id
        put("sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
        put("sys/class/kfd/kfd/topology/nodes/0/properties", "drm_render_minor 0\n");
        put("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51234\n");
        put("sys/class/kfd/kfd/topology/nodes/1/properties",
            "simd_count 1216\ndrm_render_minor 128\ngfx_target_version 90402\n");
        put("sys/class/kfd/kfd/proc/777/vram_51234", "5000000000\n");
        put("sys/class/kfd/kfd/proc/778/vram_51234", "0\n");
    }

    void put(const std::string& name, const std::string& text)
    {
        const auto path = root_.path() / name;
        ASSERT_TRUE(os::make_directories(path.parent_path()));
        ASSERT_TRUE(os::replace_file(path, text, 0600, os::Durable::no));
    }

    os::TestFolder root_;
};

TEST_F(Amd, CardThatComputesIsListedAndGraphicsOfAProcessorAreNot)
{
    AmdProbe probe(root_.path());

    const auto found = probe.inventory(after(20s), {});

    ASSERT_TRUE(found);
    EXPECT_TRUE(AmdProbe::is_present(root_.path()));
    EXPECT_EQ(found->driver_version, "6.8.5");
    ASSERT_EQ(found->devices.size(), 1U);
    const auto& device = found->devices[0];
    EXPECT_EQ(device.uuid, "GPU-79ca3a5a81e9b8d1");
    EXPECT_EQ(device.name, "AMD Instinct MI300X");
    EXPECT_EQ(device.vendor, "amd");
    EXPECT_EQ(device.compute_capability, "gfx942");
    EXPECT_EQ(device.clock_mhz, 2100U);
    EXPECT_EQ(device.pci_bus_id, "0000:C1:00.0");
    EXPECT_DOUBLE_EQ(device.power_limit, 750);
    EXPECT_EQ(device.memory_free, 200'000'000'000U);
    EXPECT_THAT(device.nodes, ElementsAre("/dev/dri/renderD128"));
}

TEST_F(Amd, SampleHasFiguresAndTheProcessesThatHoldMemory)
{
    AmdProbe probe(root_.path());

    const auto sample = probe.sample(after(20s), {});

    ASSERT_TRUE(sample);
    const auto& device = sample->devices.at(0);
    EXPECT_DOUBLE_EQ(device.utilisation.value(), 0.64);
    EXPECT_EQ(device.memory_used, 6'141'652'992U);
    EXPECT_DOUBLE_EQ(device.power_watts.value(), 421);
    EXPECT_DOUBLE_EQ(device.temperature.value(), 48);
    EXPECT_EQ(device.clock_mhz, 1300U);
    ASSERT_EQ(device.processes.size(), 1U);
    EXPECT_EQ(device.processes[0].pid, 777);
    EXPECT_EQ(device.processes[0].memory, 5'000'000'000U);
}

TEST_F(Amd, CardThatVanishesIsLost)
{
    AmdProbe probe(root_.path());
    ASSERT_TRUE(probe.inventory(after(20s), {}));

    ASSERT_TRUE(os::remove_tree(root_.path() / "sys/class/drm/card1"));
    const auto sample = probe.sample(after(20s), {});

    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->devices.at(0).lost, "the kernel no longer shows it");
}

}  // namespace
}  // namespace ponk::gpu
