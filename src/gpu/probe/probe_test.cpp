// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/probe.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::gpu {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Search : public testing::Test {
protected:
    void put(const std::string& name, const std::string& text, mode_t mode = 0600)
    {
        const auto path = folder_.path() / name;
        ASSERT_TRUE(os::make_directories(path.parent_path()));
        ASSERT_TRUE(os::replace_file(path, text, mode, os::Durable::no));
    }

    Result<Inventory> look()
    {
        auto probe = TRY(open_probe(options_, after(20s), {}));
        return probe->inventory(after(20s), {});
    }

    // nvidia-smi as far as it is asked.
    void put_smi(const std::string& body)
    {
        put("bin/nvidia-smi",
            "#!/bin/sh\ncase $1 in\n-q) " + body +
                " ;;\n-L) cat " PONK_GOLDEN "/gpu/nvidia-smi-list.txt ;;\n*) exit 2 ;;\nesac\n",
            0700);
        options_.environment = {"PATH=" + (folder_.path() / "bin").native() + ":/usr/bin:/bin"};
    }

    os::TestFolder folder_;
    ProbeOptions options_{.lib = folder_.path() / "lib",
                          .environment = {"PATH=/nowhere", "LD_LIBRARY_PATH=/nowhere"},
                          .root = folder_.path()};
};

TEST_F(Search, MachineWithoutAnySignOfADriverHasNoneAndNoProblem)
{
    EXPECT_FALSE(may_have_gpus(options_.environment, options_.root));

    const auto found = look();

    ASSERT_TRUE(found);
    EXPECT_TRUE(found->devices.empty());
    EXPECT_FALSE(found->problem);
    auto probe = open_probe(options_, after(20s), {});
    EXPECT_TRUE((*probe)->sample(after(20s), {})->devices.empty());
}

TEST_F(Search, CardWithoutADriverIsNamed)
{
    put("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
    put("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");

    const auto found = look();

    ASSERT_TRUE(found);
    ASSERT_TRUE(found->problem);
    EXPECT_THAT(found->problem->message(), HasSubstr("0000:01:00.0"));
    EXPECT_THAT(found->problem->hint(), HasSubstr("nvidia-driver"));
}

TEST_F(Search, NvmlIsTheFirstWay)
{
    put("dev/nvidiactl", "");
    put("state",
        "[driver]\ninit = 0\nversion = 580.1\ncuda = 13000\n[gpu]\nuuid = GPU-1\nname = A\n");
    options_.environment = {"PATH=/nowhere",
                            "LD_LIBRARY_PATH=" PONK_NVML_STAND_INS "/stand_in_new",
                            "PONK_NVML_STAND_IN=" + (folder_.path() / "state").native()};
    EXPECT_TRUE(may_have_gpus(options_.environment, options_.root));

    const auto found = look();

    ASSERT_TRUE(found);
    EXPECT_EQ(found->way, "nvml");
    EXPECT_EQ(found->devices.at(0).uuid, "GPU-1");
}

TEST_F(Search, WithoutTheLibraryNvidiaSmiIsAsked)
{
    put("dev/nvidiactl", "");
    put_smi("cat " PONK_GOLDEN "/gpu/nvidia-smi.xml");
    options_.environment.emplace_back("LD_LIBRARY_PATH=/nowhere");

    const auto found = look();

    ASSERT_TRUE(found);
    if (found->way == "nvml") GTEST_SKIP() << "this machine has the driver's library";
    EXPECT_EQ(found->way, "nvidia-smi");
    EXPECT_EQ(found->devices.size(), 3U);
}

TEST_F(Search, NvidiaSmiSamplesAndNamesALostCard)
{
    put("dev/nvidiactl", "");
    put_smi(
        "if [ -e " + (folder_.path() / "lost").native() +
        " ]; then echo 'Unable to determine the device handle for GPU0000:0B:00.0: GPU is lost.';"
        " exit 15; fi; cat " PONK_GOLDEN "/gpu/nvidia-smi.xml");
    auto probe = open_probe(options_, after(20s), {});
    ASSERT_TRUE(probe);
    if ((*probe)->inventory(after(20s), {})->way == "nvml")
        GTEST_SKIP() << "this machine has the driver's library";
    ASSERT_EQ((*probe)->sample(after(20s), {})->devices.size(), 3U);

    put("lost", "");
    const auto sample = (*probe)->sample(after(20s), {});

    ASSERT_TRUE(sample) << sample.error().message();
    ASSERT_EQ(sample->devices.size(), 1U);
    EXPECT_EQ(sample->devices[0].uuid, "GPU-aaaaaaaa-0000-0000-0000-000000000001");
    EXPECT_THAT(sample->devices[0].lost, HasSubstr("GPU is lost"));
}

TEST_F(Search, ReasonOfTheDriverIsKeptWhenNoWayWorks)
{
    put("dev/nvidiactl", "");
    put("state", "[driver]\ninit = 18\n");
    put_smi("echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18");
    options_.environment.emplace_back("LD_LIBRARY_PATH=" PONK_NVML_STAND_INS "/stand_in_new");
    options_.environment.push_back("PONK_NVML_STAND_IN=" + (folder_.path() / "state").native());

    auto probe = open_probe(options_, after(20s), {});

    ASSERT_TRUE(probe);
    const auto found = (*probe)->inventory(after(20s), {});
    EXPECT_TRUE(found->devices.empty());
    EXPECT_THAT(found->problem->message(), HasSubstr("old kernel module"));
    EXPECT_EQ((*probe)->sample(after(20s), {}).error().kind(), ErrorKind::unavailable);
}

TEST_F(Search, DriverThatHangsIsSaidToHang)
{
    put("dev/nvidiactl", "");
    put("state", "[driver]\ninit = 0\nhang = yes\n");
    options_.environment = {"PATH=/nowhere",
                            "LD_LIBRARY_PATH=" PONK_NVML_STAND_INS "/stand_in_new",
                            "PONK_NVML_STAND_IN=" + (folder_.path() / "state").native()};

    auto probe = open_probe(options_, after(150ms), {});

    ASSERT_TRUE(probe);
    EXPECT_THAT((*probe)->inventory(after(1s), {})->problem->message(),
                HasSubstr("did not answer in time"));
}

TEST_F(Search, VariableNamesAnotherProgramOrNone)
{
    put("mine",
        "#!/bin/sh\nread x; echo '{\"way\":\"mine\",\"devices\":[{\"uuid\":\"X\"}]}'\n",
        0700);
    options_.environment.push_back("PONK_GPU_PROBE=" + (folder_.path() / "mine").native());
    EXPECT_TRUE(may_have_gpus(options_.environment, options_.root));
    EXPECT_EQ(look()->way, "mine");

    options_.environment = {"PONK_GPU_PROBE=none"};
    put("dev/nvidiactl", "");
    EXPECT_FALSE(may_have_gpus(options_.environment, options_.root));
    EXPECT_TRUE(look()->devices.empty());
}

}  // namespace
}  // namespace ponk::gpu
