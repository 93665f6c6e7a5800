// SPDX-License-Identifier: Apache-2.0
#include "cli/gpus/gpu_devices.hpp"
#include "config/text/reading_test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::cli {
namespace {

using testing::HasSubstr;

// One that works, and one that the driver has lost; of a machine that is two targets.
JsonArray two_cards()
{
    const auto answer = parse_json(R"({"target": "docker", "address": "", "devices": [
        {"uuid": "GPU-1", "index": 0, "name": "NVIDIA H200", "memory_total": 150754820096,
         "sample": {"utilisation": 0.83, "memory_used": 40000000000, "power_watts": 412.4,
                    "temperature": 61.0},
         "processes": [{"pid": 4000, "user": "ann", "run": "000000004f1e22aa"}]},
        {"uuid": "GPU-2", "index": 1, "name": "NVIDIA H200", "memory_total": 150754820096,
         "sample": {"utilisation": 0.0, "lost": "GPU is lost"}, "processes": []}]})");
    auto other = answer.value();
    other.as_object().set("target", "local");
    return devices_of({answer.value(), other});
}

TEST(GpuDevices, ColumnsHaveValuesForPeopleAndForPrograms)
{
    const auto view = view_of_gpus(two_cards());

    EXPECT_EQ(output::render(view.exact, output::Format::tsv, {}, view.columns),
              "docker,local\t0\tann, run 4f1e22aa\tNVIDIA H200\t0.83\t40000000000\tGPU-1\t61.0\t"
              "412.4\n"
              "docker,local\t1\tlost: GPU is lost\tNVIDIA H200\t0.0\t\tGPU-2\t\t\n");
    EXPECT_THAT(output::render(view.rows, output::Format::table, {}, view.columns),
                HasSubstr("37.3 of 140.4 GiB"));
}

TEST(GpuDevices, NarrowTerminalsKeepWhoHasItAndWhatIsMissing)
{
    auto devices = two_cards();
    for (auto& device : devices) {
        device.as_object().set("name", "NVIDIA H100 80GB HBM3");
        device.as_object().set("targets", JsonArray{"local"});
        device.as_object().set(
            "uuid", "GPU-6f0a1b2c-0000-0000-0000-00000000000" + device.text("uuid").substr(4));
    }
    const auto view = view_of_gpus(devices);
    const auto at = [&](int width) {
        return output::render(view.rows, output::Format::table, {.width = width}, view.columns);
    };

    for (const auto* word : {"gpu",
                             "ann, run 4f1e22aa",
                             "lost: GPU is lost",
                             "NVIDIA H100 80GB HBM3",
                             "37.3 of 140.4 GiB",
                             "(3 more columns in -o json: uuid, heat, power)"})
        EXPECT_THAT(at(80), HasSubstr(word));
    EXPECT_THAT(at(40), HasSubstr("lost: GPU is lost"));
    EXPECT_THAT(at(40), HasSubstr("power)"));
    EXPECT_THAT(at(130), HasSubstr("GPU-6f0a1b2c-0000-0000-0000-000000000001"));
}

TEST(GpuDevices, TargetsThatCannotBeAskedAreNamed)
{
    const config::TemporaryFolder folder;
    folder.write("aml_config/local.compute", "type: [\n");
    folder.write("aml_config/spark.compute", "type: cluster\naddress: h\nusername: u\n");
    folder.write("aml_config/host.compute", "type: remote\naddress: h\nusername: u\n");
    const auto project = config::open_project(folder.path()).value();

    const auto targets = gpu_targets(project, {});

    ASSERT_TRUE(targets);
    EXPECT_THAT(targets->names, testing::ElementsAre("host"));
    ASSERT_EQ(targets->skipped.size(), 2U);
    EXPECT_THAT(targets->skipped[0], testing::StartsWith("local: aml_config/local.compute:"));
    EXPECT_THAT(targets->skipped[1],
                HasSubstr("spark: targets of type 'cluster' are not supported"));
}

}  // namespace
}  // namespace ponk::cli
