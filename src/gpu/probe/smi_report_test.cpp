// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/smi_report.hpp"
#include "os/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::gpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string golden(const char* name)
{
    return os::read_file(os::Path(PONK_GOLDEN) / "gpu" / name).value();
}

TEST(SmiReport, CardsAreRead)
{
    const auto report = parse_smi_report(golden("nvidia-smi.xml"), {});

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->inventory.way, "nvidia-smi");
    EXPECT_EQ(report->inventory.driver_version, "550.54.15");
    EXPECT_EQ(report->inventory.cuda_version, "12.4");
    EXPECT_TRUE(report->has_mig);
    ASSERT_EQ(report->inventory.devices.size(), 1U);  // instances have no names yet
    const auto& device = report->inventory.devices[0];
    EXPECT_EQ(device.uuid, "GPU-aaaaaaaa-0000-0000-0000-000000000001");
    EXPECT_EQ(device.name, "NVIDIA A100-SXM4-80GB");
    EXPECT_EQ(device.pci_bus_id, "0000:0B:00.0");
    EXPECT_EQ(device.clock_mhz, 1410U);
    EXPECT_DOUBLE_EQ(device.power_limit, 400);
    EXPECT_EQ(device.memory_total, std::uint64_t{81920} << 20U);
    EXPECT_EQ(device.memory_free, std::uint64_t{70992} << 20U);
    EXPECT_THAT(device.nodes, ElementsAre("/dev/nvidia2"));
    const auto& sample = report->sample.devices.at(0);
    EXPECT_DOUBLE_EQ(sample.utilisation.value(), 0.83);
    EXPECT_DOUBLE_EQ(sample.power_watts.value(), 312.5);
    EXPECT_DOUBLE_EQ(sample.temperature.value(), 55);
    EXPECT_EQ(sample.clock_mhz, 1395U);
    EXPECT_EQ(sample.ecc_errors, 3U);
    EXPECT_FALSE(sample.sm_activity);
    ASSERT_EQ(sample.processes.size(), 2U);
    EXPECT_EQ(sample.processes[0].pid, 4242);
    EXPECT_EQ(sample.processes[0].memory, std::uint64_t{9216} << 20U);
    EXPECT_EQ(sample.processes[1].memory, 0U);
}

TEST(SmiReport, InstancesGetTheirNamesFromTheList)
{
    const auto instances = parse_smi_list(golden("nvidia-smi-list.txt"));
    const auto report = parse_smi_report(golden("nvidia-smi.xml"), instances);

    ASSERT_TRUE(report) << report.error().message();
    ASSERT_EQ(report->inventory.devices.size(), 3U);
    const auto& instance = report->inventory.devices[1];
    EXPECT_EQ(instance.uuid, "MIG-bbbbbbbb-0000-0000-0000-000000000001");
    EXPECT_EQ(instance.card, "GPU-aaaaaaaa-0000-0000-0000-000000000002");
    EXPECT_EQ(instance.name, "NVIDIA A100-SXM4-80GB MIG 3g.40gb");
    EXPECT_EQ(instance.index, 1U);
    EXPECT_EQ(instance.memory_total, std::uint64_t{40192} << 20U);
    EXPECT_EQ(report->sample.devices.at(1).processes.at(0).pid, 555);
    EXPECT_TRUE(report->sample.devices.at(2).processes.empty());
    EXPECT_FALSE(report->inventory.problem);
}

TEST(SmiReport, WhatOnlyDrawsIsToldApart)
{
    const auto process = [](int pid, const char* type) {
        return fmt::format("<process_info><pid>{}</pid><type>{}</type><used_memory>400 MiB"
                           "</used_memory></process_info>",
                           pid,
                           type);
    };
    const auto report =
        parse_smi_report("<nvidia_smi_log><gpu id=\"0\"><uuid>GPU-1</uuid><processes>" +
                             process(1, "G") + process(2, "C+G") + process(3, "G") +
                             process(3, "C") + "</processes></gpu></nvidia_smi_log>",
                         {});

    ASSERT_TRUE(report) << report.error().message();
    const auto& processes = report->sample.devices.at(0).processes;
    ASSERT_EQ(processes.size(), 3U);
    EXPECT_TRUE(processes[0].draws_only);
    EXPECT_FALSE(processes[1].draws_only);
    EXPECT_FALSE(processes[2].draws_only);
}

TEST(SmiReport, CapabilitiesComeFromAQuestionOfTheirOwn)
{
    auto report =
        parse_smi_report(golden("nvidia-smi.xml"), parse_smi_list(golden("nvidia-smi-list.txt")));
    ASSERT_TRUE(report);

    add_capabilities("GPU-aaaaaaaa-0000-0000-0000-000000000001, 8.0\n"
                     "GPU-aaaaaaaa-0000-0000-0000-000000000002, 8.0\nrubbish\n",
                     report->inventory);

    for (const auto& device : report->inventory.devices)
        EXPECT_EQ(device.compute_capability, "8.0") << device.uuid;
}

TEST(SmiReport, CardInMigModeWithoutInstancesIsAProblem)
{
    const auto report =
        parse_smi_report("<nvidia_smi_log><gpu id=\"0\"><uuid>GPU-1</uuid><product_name>A"
                         "</product_name><mig_mode><current_mig>Enabled</current_mig></mig_mode>"
                         "<mig_devices>None</mig_devices></gpu></nvidia_smi_log>",
                         {});

    ASSERT_TRUE(report);
    EXPECT_THAT(report->inventory.problem->message(), HasSubstr("has no instances"));
}

// As driver 580 writes a process that chose its own name: marked up, but neither UTF-8 nor XML.
TEST(SmiReport, ANameOfAProcessHidesNothing)
{
    const auto report =
        parse_smi_report("<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"x.dtd\">\n"
                         "<nvidia_smi_log><gpu id=\"00000000:0B:00.0\"><uuid>GPU-1</uuid>"
                         "<processes><process_info><pid>7</pid><process_name>evil&lt;/process_name"
                         "&gt;\xff\x01&amp;amp; &other;</process_name><used_memory>1 MiB"
                         "</used_memory></process_info></processes></gpu></nvidia_smi_log>\n",
                         {});

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->inventory.devices.at(0).pci_bus_id, "0000:0B:00.0");
    EXPECT_EQ(report->sample.devices.at(0).processes.at(0).pid, 7);
}

TEST(SmiReport, EntitiesAreReplacedAndNotDeclared)
{
    const auto report = parse_smi_report(
        "<!DOCTYPE a [<!ENTITY a \"long\"><!ENTITY b \"&a;&a;\">]>"
        "<nvidia_smi_log><gpu><uuid>GPU-1</uuid><product_name>\n A &lt;&amp;&gt; &b;\n"
        "</product_name></gpu></nvidia_smi_log>",
        {});

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->inventory.devices.at(0).name, "A <&> &b;");
}

TEST(SmiReport, WhatIsNoXmlIsRefusedWithItsPlace)
{
    for (const char* text : {"",
                             "plain words",
                             "<a>",
                             "<a><b></a></b>",
                             "</a>",
                             "<a x>",
                             "<a x=1></a>",
                             "<a x=\"1></a>",
                             "<>",
                             "<!-- no end",
                             "<a></a"}) {
        const auto report = parse_smi_report(text, {});
        ASSERT_FALSE(report) << text;
        EXPECT_EQ(report.error().kind(), ErrorKind::damaged) << text;
        EXPECT_THAT(report.error().message(), HasSubstr("at byte")) << text;
    }
}

TEST(SmiReport, DepthNeedsNoStack)
{
    std::string deep;
    for (int i = 0; i < 400'000; ++i)
        deep += "<a>";
    EXPECT_FALSE(parse_smi_report("<nvidia_smi_log>" + deep, {}));

    deep.clear();
    for (int i = 0; i < 100'000; ++i)
        deep += "<a>";
    for (int i = 0; i < 100'000; ++i)
        deep += "</a>";
    EXPECT_TRUE(parse_smi_report("<nvidia_smi_log>" + deep + "</nvidia_smi_log>", {}));
}

TEST(SmiReport, ElementsAndAttributesAreCountedFirst)
{
    std::string many = "<nvidia_smi_log>";
    for (int i = 0; i < 1'000'000; ++i)
        many += "<a/>";
    std::string wide = "<nvidia_smi_log ";
    for (int i = 0; i < 1'000'000; ++i)
        wide += "a='' ";

    for (const auto& text : {many + "</nvidia_smi_log>", wide + "/>"}) {
        const auto report = parse_smi_report(text, {});
        ASSERT_FALSE(report);
        EXPECT_THAT(report.error().message(), HasSubstr("too many elements"));
    }
}

TEST(SmiReport, TextThatIsNoReportIsRefused)
{
    EXPECT_FALSE(parse_smi_report("NVIDIA-SMI has failed", {}));
    EXPECT_FALSE(parse_smi_report("<other/>", {}));
    EXPECT_FALSE(
        parse_smi_report("<nvidia_smi_log><gpu><uuid>../x</uuid></gpu></nvidia_smi_log>", {}));
}

}  // namespace
}  // namespace ponk::gpu
