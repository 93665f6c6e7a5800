// SPDX-License-Identifier: Apache-2.0
// The real ponk-nvml, with a stand-in for the driver's library.
#include "gpu/probe/child_probe.hpp"
#include "gpu/probe/embedded.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::gpu {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* one_card = R"([driver]
init = 0
version = 580.82.07
cuda = 13000
[gpu]
uuid = GPU-11111111-2222-3333-4444-555555555555
name = NVIDIA H200
capability = 9 0
max_clock = 1980
clock = 1755
pci = 0 11 0
minor = 3
memory = 150754820096 4000000000
utilisation = 97
power = 612345
power_limit = 700000
energy = 987654321
temperature = 61
ecc = 0
)";

class Nvml : public testing::Test {
protected:
    void say(const std::string& state)
    {
        ASSERT_TRUE(os::replace_file(folder_.path() / "state", state, 0600, os::Durable::no));
    }

    ChildProbe probe(const char* age = "new")
    {
        return {PONK_NVML_PROGRAM,
                {fmt::format("LD_LIBRARY_PATH={}/stand_in_{}", PONK_NVML_STAND_INS, age),
                 "PONK_NVML_STAND_IN=" + (folder_.path() / "state").native()}};
    }

    os::TestFolder folder_;
};

TEST_F(Nvml, TellsAllOfACard)
{
    say(one_card);
    auto nvml = probe();

    const auto found = nvml.inventory(after(20s), {});

    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->way, "nvml");
    EXPECT_EQ(found->driver_version, "580.82.07");
    EXPECT_EQ(found->cuda_version, "13.0");
    EXPECT_FALSE(found->problem);
    ASSERT_EQ(found->devices.size(), 1U);
    const auto& device = found->devices[0];
    EXPECT_EQ(device.uuid, "GPU-11111111-2222-3333-4444-555555555555");
    EXPECT_EQ(device.name, "NVIDIA H200");
    EXPECT_EQ(device.vendor, "nvidia");
    EXPECT_EQ(device.compute_capability, "9.0");
    EXPECT_EQ(device.clock_mhz, 1980U);
    EXPECT_EQ(device.pci_bus_id, "0000:0B:00.0");
    EXPECT_EQ(device.memory_total, 150'754'820'096U);
    EXPECT_EQ(device.memory_free, 146'754'820'096U);
    EXPECT_THAT(device.nodes, ElementsAre("/dev/nvidia3"));
    EXPECT_DOUBLE_EQ(device.power_limit, 700);
}

TEST_F(Nvml, SamplesWhatTheCardTellsAndNothingElse)
{
    say(std::string(one_card) + "gpm = 42 17\n");
    auto nvml = probe();

    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(sample) << sample.error().message();
    ASSERT_EQ(sample->devices.size(), 1U);
    // Asked for the cards in between, it goes on counting.
    ASSERT_TRUE(nvml.inventory(after(20s), {}));
    EXPECT_TRUE(nvml.sample(after(20s), {})->devices.at(0).sm_activity);
    const auto& device = sample->devices[0];
    EXPECT_DOUBLE_EQ(device.utilisation.value(), 0.97);
    EXPECT_DOUBLE_EQ(device.sm_activity.value(), 0.42);
    EXPECT_DOUBLE_EQ(device.tensor_activity.value(), 0.17);
    EXPECT_EQ(device.memory_used, 4'000'000'000U);
    EXPECT_DOUBLE_EQ(device.power_watts.value(), 612.345);
    EXPECT_DOUBLE_EQ(device.energy_joules.value(), 987'654.321);
    EXPECT_DOUBLE_EQ(device.temperature.value(), 61);
    EXPECT_EQ(device.clock_mhz, 1755U);
    EXPECT_EQ(device.ecc_errors, 0U);
    EXPECT_TRUE(device.processes.empty());
    EXPECT_TRUE(device.xids.empty());
    EXPECT_TRUE(device.lost.empty());
}

TEST_F(Nvml, ProcessesOfAllListsAreMergedByPid)
{
    say(std::string(one_card) + "compute = 100 5000\ncompute = 101 ?\ngraphics = 100 6000\n"
                                "mps = 102 7000\nbusy = 100 80\nbusy = 100 60\nbusy = 102 200\n");
    auto nvml = probe();

    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(sample) << sample.error().message();
    const auto& processes = sample->devices.at(0).processes;
    ASSERT_EQ(processes.size(), 3U);
    EXPECT_EQ(processes[0].pid, 100);
    EXPECT_EQ(processes[0].memory, 6000U);
    EXPECT_DOUBLE_EQ(processes[0].sm_utilisation.value(), 0.7);
    EXPECT_EQ(processes[1].memory, 0U);  // the driver does not tell
    EXPECT_DOUBLE_EQ(processes[1].sm_utilisation.value(), 0);
    EXPECT_FALSE(processes[2].sm_utilisation);  // 200 % is rubbish
}

TEST_F(Nvml, ProcessThatWorkedAndIsGoneIsTold)
{
    say(std::string(one_card) + "compute = 100 5000\nbusy = 100 80 300\nbusy = 100 60 700\n"
                                "busy = 101 90 200\nbusy = 102 0 200\n");
    auto nvml = probe();

    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(sample) << sample.error().message();
    const auto& processes = sample->devices.at(0).processes;
    ASSERT_EQ(processes.size(), 2U) << "one that did nothing was not there";
    EXPECT_EQ(processes[0].pid, 100);
    EXPECT_FALSE(processes[0].ended);
    EXPECT_DOUBLE_EQ(processes[0].sm_utilisation.value(), 0.7);
    // All of the time that was asked for, and the window of a first measurement in it.
    EXPECT_GE(processes[0].sm_span_ms.value(), 3000);
    EXPECT_EQ(processes[1].pid, 101);
    EXPECT_TRUE(processes[1].ended);
    EXPECT_DOUBLE_EQ(processes[1].sm_utilisation.value(), 0.9);
}

// The real driver told a new process with what the one before it in its place had done.
TEST_F(Nvml, WorkByProcessIsAskedForSinceTheLastSampleAlsoWhenNobodyWasThere)
{
    say(one_card);
    auto nvml = probe();
    ASSERT_TRUE(nvml.sample(after(20s), {}));
    say(std::string(one_card) + "compute = 100 5000\nbusy = 100 80 1500\n");

    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(sample) << sample.error().message();
    EXPECT_NE(sample->devices.at(0).processes.at(0).sm_utilisation, 0.8);
}

TEST_F(Nvml, EntryThatTheDriverRepeatsIsCountedOnce)
{
    say(std::string(one_card) + "compute = 100 5000\nbusy = 100 80 1900\n");
    auto nvml = probe();
    ASSERT_TRUE(nvml.inventory(after(20s), {}));
    auto first = nvml.sample(after(20s), {});
    ASSERT_TRUE(first);
    ASSERT_EQ(first->devices.at(0).processes.at(0).sm_utilisation, 0.8);
    // The time is as it was, as near as a test can make it: earlier by what has passed since.
    say(std::string(one_card) + "compute = 100 5000\nbusy = 100 80 60000\n");

    const auto second = nvml.sample(after(20s), {});

    EXPECT_NE(second->devices.at(0).processes.at(0).sm_utilisation, 0.8);
}

TEST_F(Nvml, EntriesOfAClockThatWasSetBackAreNotCounted)
{
    // From a time that has not come yet.
    say(std::string(one_card) + "compute = 100 5000\nbusy = 100 80 18446744073709491616\n");
    auto nvml = probe();

    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(sample) << sample.error().message();
    EXPECT_NE(sample->devices.at(0).processes.at(0).sm_utilisation, 0.8);
}

// Its server works for it, and some drivers tell of the server only.
TEST_F(Nvml, ClientOfMpsThatIsNotToldOfIsNotIdle)
{
    say(std::string(one_card) + "compute = 100 5000\nmps = 101 6000\nmps = 102 7000\n"
                                "busy = 100 80\nbusy = 102 30\n");
    auto nvml = probe();

    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(sample) << sample.error().message();
    const auto& processes = sample->devices.at(0).processes;
    ASSERT_EQ(processes.size(), 3U);
    EXPECT_FALSE(processes[1].sm_utilisation);
    EXPECT_DOUBLE_EQ(processes[2].sm_utilisation.value(), 0.3);
}

TEST_F(Nvml, WhatOnlyDrawsIsToldApart)
{
    say(std::string(one_card) + "compute = 100 5000\ngraphics = 100 6000\ngraphics = 101 6000\nmps "
                                "= 102 1\ngraphics = 102 1\n");
    auto nvml = probe();

    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(sample) << sample.error().message();
    const auto& processes = sample->devices.at(0).processes;
    ASSERT_EQ(processes.size(), 3U);
    for (const auto& process : processes)
        EXPECT_EQ(process.draws_only, process.pid == 101) << process.pid;
}

TEST_F(Nvml, LongListsAndLongEntriesAreRead)
{
    std::string state = std::string(one_card) + "wide = yes\n";
    for (int i = 0; i < 300; ++i)
        state += fmt::format("compute = {} {}\n", 1000 + i, i);
    say(state);
    auto nvml = probe();

    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(sample) << sample.error().message();
    const auto& processes = sample->devices.at(0).processes;
    ASSERT_EQ(processes.size(), 300U);
    EXPECT_EQ(processes[299].pid, 1299);
    EXPECT_EQ(processes[299].memory, 299U);
}

TEST_F(Nvml, LibraryOfLongAgoGivesWhatItHas)
{
    say(std::string(one_card) + "compute = 100 5000\n");
    auto nvml = probe("old");

    const auto found = nvml.inventory(after(20s), {});
    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(found && sample);
    ASSERT_EQ(found->devices.size(), 1U);
    EXPECT_EQ(found->devices[0].memory_total, 150'754'820'096U);
    EXPECT_EQ(found->devices[0].compute_capability, "");
    EXPECT_EQ(sample->devices.at(0).processes.at(0).memory, 5000U);
    EXPECT_FALSE(sample->devices[0].sm_activity);
}

TEST_F(Nvml, InstancesOfACardAreDevicesOfTheirOwn)
{
    say(std::string(one_card) +
        "mig = 1\n"
        "[instance]\nuuid = MIG-a\nname = NVIDIA H200 MIG 1g.18gb\nmemory = 18000 500\nids = 7 0\n"
        "gpm = 30 5\ncompute = 200 400\n"
        "[instance]\nuuid = MIG-b\nname = NVIDIA H200 MIG 1g.18gb\nmemory = 18000 0\nids = 8 0\n");
    auto nvml = probe();

    const auto found = nvml.inventory(after(20s), {});
    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(found && sample);
    ASSERT_EQ(found->devices.size(), 2U);
    EXPECT_EQ(found->devices[0].uuid, "MIG-a");
    EXPECT_EQ(found->devices[0].card, "GPU-11111111-2222-3333-4444-555555555555");
    EXPECT_EQ(found->devices[1].index, 1U);
    EXPECT_EQ(found->devices[1].memory_total, 18'000U);
    ASSERT_EQ(sample->devices.size(), 2U);
    EXPECT_DOUBLE_EQ(sample->devices[0].sm_activity.value(), 0.3);
    EXPECT_EQ(sample->devices[0].processes.at(0).pid, 200);
    EXPECT_FALSE(sample->devices[0].energy_joules);  // the card's, and others'
    EXPECT_TRUE(sample->devices[1].processes.empty());
}

TEST_F(Nvml, CountersThatSeveralComputeInstancesShareAreNobodysOwn)
{
    const std::string first =
        "[instance]\nuuid = MIG-a\nname = one\nmemory = 18000 500\nids = 7 0\n"
        "gpm = 30 5\n";
    const std::string second = "[instance]\nuuid = MIG-b\nname = two\nmemory = 18000 0\nids = 7 1\n"
                               "gpm = 30 5\n";
    say(std::string(one_card) + "mig = 1\n" + first + second);
    auto nvml = probe();

    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(sample) << sample.error().message();
    ASSERT_EQ(sample->devices.size(), 2U);
    for (const auto& device : sample->devices)
        EXPECT_FALSE(device.sm_activity) << device.uuid;
}

TEST_F(Nvml, CardInMigModeWithoutInstancesIsAProblem)
{
    say(std::string(one_card) + "mig = 1\n");
    auto nvml = probe();

    const auto found = nvml.inventory(after(20s), {});

    ASSERT_TRUE(found);
    EXPECT_TRUE(found->devices.empty());
    EXPECT_THAT(found->problem->message(), HasSubstr("MIG mode and has no instances"));
    EXPECT_THAT(found->problem->hint(), HasSubstr("-mig 0"));
}

TEST_F(Nvml, LostCardIsToldWithItsXid)
{
    say(one_card);
    auto nvml = probe();
    ASSERT_TRUE(nvml.inventory(after(20s), {}));
    ASSERT_TRUE(nvml.sample(after(20s), {})->devices[0].lost.empty());

    say(std::string(one_card) + "xid = 79\nstatus = 15\n");
    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(sample);
    ASSERT_EQ(sample->devices.size(), 1U);
    EXPECT_EQ(sample->devices[0].lost, "GPU is lost");
    EXPECT_THAT(sample->devices[0].xids, ElementsAre(79));
    EXPECT_FALSE(sample->devices[0].utilisation);
    EXPECT_THAT(nvml.sample(after(20s), {})->devices[0].xids, ElementsAre());  // told once
}

TEST_F(Nvml, CardThatIsNotListedAfterARestartIsLost)
{
    say(one_card);
    auto nvml = probe();
    ASSERT_TRUE(nvml.inventory(after(20s), {}));

    say(std::string(one_card) + "crash = yes\n");
    EXPECT_EQ(nvml.sample(after(20s), {}).error().kind(), ErrorKind::unavailable);
    say("[driver]\ninit = 0\nversion = 580.82.07\ncuda = 13000\n");
    const auto sample = nvml.sample(after(20s), {});

    ASSERT_TRUE(sample) << sample.error().message();
    ASSERT_EQ(sample->devices.size(), 1U);
    EXPECT_EQ(sample->devices[0].lost, "the driver no longer lists it");
}

TEST_F(Nvml, DriverThatHangsIsLeftBehind)
{
    say("[driver]\ninit = 0\nhang = yes\n");
    auto nvml = probe();

    const auto found = nvml.inventory(after(100ms), {});

    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind(), ErrorKind::unavailable);
    EXPECT_THAT(found.error().message(), HasSubstr("did not answer in time"));
    say(one_card);
    EXPECT_TRUE(nvml.inventory(after(20s), {}));
}

TEST_F(Nvml, EachReasonForHavingNoneHasItsAdvice)
{
    const std::pair<const char*, const char*> cases[] = {{"18", "Restart the machine"},
                                                         {"4", "ls -l /dev/nvidia"},
                                                         {"9", "modprobe nvidia"},
                                                         {"999", "dmesg"}};
    for (const auto& [status, advice] : cases) {
        say(fmt::format("[driver]\ninit = {}\n", status));
        const auto found = probe().inventory(after(20s), {});
        ASSERT_TRUE(found) << status;
        ASSERT_TRUE(found->problem) << status;
        EXPECT_EQ(found->problem->kind(), ErrorKind::unavailable) << status;
        EXPECT_THAT(found->problem->hint(), HasSubstr(advice));
    }
}

TEST_F(Nvml, CardThatThisUserMayNotOpenIsNamedAndTheOthersAreThere)
{
    say(std::string(one_card) + "[gpu]\nuuid = GPU-2\nstatus = 4\n");

    const auto found = probe().inventory(after(20s), {});

    ASSERT_TRUE(found);
    EXPECT_EQ(found->devices.size(), 1U);
    EXPECT_EQ(found->problem->message(), "GPU 1 cannot be used: Insufficient Permissions");
}

TEST_F(Nvml, MissingLibraryIsAProblemOfItsOwnKind)
{
    const auto found =
        ChildProbe(PONK_NVML_PROGRAM, {"LD_LIBRARY_PATH=/nowhere"}).inventory(after(20s), {});

    ASSERT_TRUE(found);
    if (!found->devices.empty()) GTEST_SKIP() << "this machine has the driver's library";
    EXPECT_EQ(found->problem->kind(), ErrorKind::not_found);
}

// It goes to machines as old as 2014: their loader refuses newer names.
TEST(NvmlProgram, AsksForNoNewerLibraryThanOf2012)
{
    for (const auto* processor : {"x86_64", "aarch64"}) {
        const auto program = nvml_program(processor);
        if (program.empty()) continue;  // built without the cross compiler
        std::size_t at = 0;
        while ((at = program.find("GLIBC_2.", at)) != std::string_view::npos) {
            at += 8;
            EXPECT_LE(std::atoi(program.substr(at, 2).data()), 17) << processor;
        }
    }
}

TEST(NvmlProgram, IsInstalledOncePerVersion)
{
    const os::TestFolder lib;

    const auto first = install_nvml_program(lib.path() / "lib");
    const auto second = install_nvml_program(lib.path() / "lib");

    ASSERT_TRUE(first) << first.error().message();
    EXPECT_EQ(*first, second.value());
    EXPECT_EQ(os::read_file(*first)->size(), os::read_file(PONK_NVML_PROGRAM)->size());
}

}  // namespace
}  // namespace ponk::gpu
