// SPDX-License-Identifier: Apache-2.0
#include "executor/gpu/monitor.hpp"
#include "gpu_monitor/gpu_journal.hpp"
#include "gpu_monitor/keeper.hpp"
#include "gpu_monitor/start_run.hpp"
#include "gpu_monitor/strangers.hpp"
#include "model/metric_journal.hpp"
#include "os/directory.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

namespace ponk::gpu_monitor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

gpu::Device card(const std::string& uuid)
{
    gpu::Device device;
    device.uuid = uuid;
    device.vendor = "nvidia";
    device.memory_total = std::uint64_t{80} << 30U;
    return device;
}

gpu::Sample sample_with(std::vector<gpu::DeviceProcess> processes, std::uint64_t used)
{
    gpu::DeviceSample device;
    device.uuid = "GPU-a";
    device.memory_used = used;
    device.processes = std::move(processes);
    return {.time = 5000, .devices = {device}};
}

TEST(Strangers, WhoeverComputesIsNamedWithMemory)
{
    const auto found = describe_strangers(
        card("GPU-a"), sample_with({{.pid = ::getpid(), .memory = 3U << 30U}}, 3U << 30U));

    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(found[0],
                HasSubstr("process " + std::to_string(::getpid()) + " (ponk_gpu_monito)"));
    EXPECT_THAT(found[0], HasSubstr("3.0 GiB"));
    EXPECT_THAT(found[0], testing::StartsWith("GPU 0 (GPU-a) is used: process "));
}

TEST(Strangers, LostCardIsNamedWithWhatToDo)
{
    auto sample = sample_with({}, 0);
    sample.devices[0].lost = "fallen off the bus";
    EXPECT_THAT(describe_strangers(card("GPU-a"), sample),
                ElementsAre("GPU 0 (GPU-a) is lost (fallen off the bus): restart the machine, or "
                            "request the others by UUID"));
}

TEST(Strangers, AScreenIsNone)
{
    const auto sample = sample_with({{.pid = 1, .memory = 1, .draws_only = true}}, 2U << 30U);
    EXPECT_THAT(describe_strangers(card("GPU-a"), sample), IsEmpty());
    EXPECT_THAT(describe_strangers(card("GPU-b"), sample_with({{.pid = 1}}, 0)), IsEmpty());
}

TEST(Strangers, MemoryThatNobodyHoldsIsNotSilentlyGiven)
{
    EXPECT_THAT(describe_strangers(card("GPU-a"), sample_with({}, 600U << 20U)), IsEmpty());
    EXPECT_THAT(describe_strangers(card("GPU-a"), sample_with({}, std::uint64_t{9} << 30U)),
                ElementsAre(HasSubstr("cannot be seen")));
}

TEST(GpuJournal, WritesMetricsByPlaceAndCountsEnergyFromTheStart)
{
    const os::TestFolder folder;
    const executor::RunDirectory run(folder.path());
    ASSERT_TRUE(os::make_directories(run.task()));
    GpuJournal journal(run, "r", {card("GPU-z"), card("GPU-a")}, 1000);
    auto sample = sample_with({}, 7);
    sample.devices[0].utilisation = 0.25;
    sample.devices[0].energy_joules = 100.0;
    journal.add(sample);
    sample.time = 6000;
    sample.devices[0].energy_joules = 130.0;
    journal.add(sample);

    const auto files = os::list_directory(run.task() / "journal");
    ASSERT_TRUE(files && files->size() == 1);
    const auto text = os::read_file(run.task() / "journal" / files->front().name);
    const auto piece = model::read_journal(*text, 0);
    EXPECT_EQ(piece.damaged, 0U);
    std::map<std::string, double> last;
    for (const auto& point : piece.points)
        last[point.key] = point.value;
    EXPECT_EQ(last["system/gpu.1.utilisation"], 25);
    EXPECT_EQ(last["system/gpu.1.memory_used"], 7);
    EXPECT_EQ(last["system/gpu.1.energy"], 30);
    EXPECT_EQ(piece.points.back().step, 5);
}

TEST(GpuJournal, ALinkInThePlaceOfItsFolderIsNotFollowed)
{
    const os::TestFolder folder;
    const executor::RunDirectory run(folder.path());
    const os::TestFolder elsewhere;
    ASSERT_TRUE(os::make_directories(run.task()));
    std::filesystem::create_symlink(elsewhere.path(), run.task() / "journal");

    GpuJournal journal(run, "r", {card("GPU-a")}, 1000);
    journal.add(sample_with({}, 7));

    EXPECT_THAT(os::list_directory(elsewhere.path()).value(), IsEmpty());
}

TEST(MonitorJob, SurvivesTheTripThroughItsFile)
{
    executor::MonitorJob job;
    job.run = "r";
    job.script = "a.py";
    job.request.selection = "2";
    job.request.need = executor::GpuRequest::Need::required;
    job.request.busy = executor::GpuRequest::Busy::refuse;
    job.is_given_devices = true;
    job.stub = "/lib/stub";

    const auto again = executor::parse_monitor_job(to_text(job));

    ASSERT_TRUE(again);
    EXPECT_EQ(to_text(*again), to_text(job));
    EXPECT_FALSE(executor::parse_monitor_job("{}"));
    EXPECT_FALSE(executor::parse_monitor_job("no"));
}

TEST(FindGiven, ASchedulersVariablesNameDevicesByPlaceOrName)
{
    std::vector<gpu::Device> devices{card("GPU-a"), card("GPU-b"), card("MIG-c")};
    for (unsigned index = 0; index < devices.size(); ++index)
        devices[index].index = index;
    const auto names = [&](const std::string& variable) {
        std::vector<std::string> found;
        const auto given = find_given(devices, {variable}).value();
        for (const auto& device : given)
            found.push_back(device.uuid);
        return found;
    };
    EXPECT_THAT(names("CUDA_VISIBLE_DEVICES=1"), ElementsAre("GPU-b"));
    EXPECT_THAT(names("CUDA_VISIBLE_DEVICES=1,0"), ElementsAre("GPU-b", "GPU-a"));
    EXPECT_THAT(names("CUDA_VISIBLE_DEVICES=MIG-c"), ElementsAre("MIG-c"));
    EXPECT_THAT(names("ROCR_VISIBLE_DEVICES=0"), ElementsAre("GPU-a"));
    EXPECT_THAT(names("PATH=/bin"), ElementsAre("GPU-a", "GPU-b", "MIG-c"));

    const auto missing = find_given(devices, {"CUDA_VISIBLE_DEVICES=0,7"});
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message(), HasSubstr("GPU '7'"));
    EXPECT_FALSE(find_given({}, {"CUDA_VISIBLE_DEVICES=0"}));
}

TEST(DeviceVariables, NameDevicesAsTheirFrameworksDo)
{
    auto amd = card("GPU-0123456789abcdef");
    amd.vendor = "amd";
    amd.index = 3;
    EXPECT_THAT(device_variables({card("GPU-a"), card("GPU-b")}),
                testing::Contains(testing::Pair("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b")));
    EXPECT_THAT(device_variables({amd}),
                testing::Contains(testing::Pair("ROCR_VISIBLE_DEVICES", "GPU-0123456789abcdef")));
    EXPECT_THAT(device_variables({}), IsEmpty());
}

}  // namespace
}  // namespace ponk::gpu_monitor
