// SPDX-License-Identifier: Apache-2.0
#include "gpu/container/cdi.hpp"
#include "gpu/container/container_way.hpp"
#include "gpu/container/made_driver_test_support.hpp"
#include "gpu/container/toolkit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::gpu {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* sound = "NVIDIA Container Toolkit CLI version 1.17.8\ncommit: f202b80\n";
constexpr const char* holed = "NVIDIA Container Toolkit CLI version 1.17.7\n";
constexpr const char* description = "---\ncdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n"
                                    "- name: \"0\"\n  containerEdits:\n    deviceNodes:\n"
                                    "    - path: /dev/nvidia0\n      name: nested\n"
                                    "- name: GPU-1\n  containerEdits: {}\n- name: all\n"
                                    "containerEdits:\n  env:\n  - name: not-this\n";

class ContainerWay : public testing::Test {
protected:
    ContainerWay() { machine.driver(); }

    Result<ContainerGpus> choose()
    {
        question.search = machine.search();
        return choose_container_way(question);
    }

    MadeMachine machine;
    ContainerQuestion question{.devices = {MadeMachine::card(0), MadeMachine::card(1)},
                               .engine = {.engine = "28.2.2"},
                               .info = {.default_runtime = "runc", .runtimes = {"runc"}},
                               .search = {}};
};

TEST_F(ContainerWay, IsDirectOnPlainEngines)
{
    const auto gpus = choose().value();

    EXPECT_EQ(gpus.way, "direct");
    EXPECT_THAT(gpus.reason, HasSubstr("no NVIDIA toolkit"));
    EXPECT_THAT(gpus.environment,
                ElementsAre("NVIDIA_VISIBLE_DEVICES=void", "CUDA_VISIBLE_DEVICES=GPU-0,GPU-1"));
    ASSERT_FALSE(gpus.mounts.empty());
    EXPECT_EQ(gpus.mounts[1].target, "/ponk/driver/lib/libcuda.so.1");
    EXPECT_EQ(gpus.mounts[1].access, dockerapi::Mount::Access::read_only);
    EXPECT_EQ(gpus.mounts.back().target, "/ponk/driver/bin/nvidia-smi");
    EXPECT_EQ(gpus.runtime, "");
    const auto& devices = gpus.host_settings.find("Devices")->as_array();
    ASSERT_EQ(devices.size(), 5U);
    EXPECT_EQ(devices[0].text("PathOnHost"), (machine.root() / "dev/nvidia0").string());
    EXPECT_EQ(devices[0].text("PathInContainer"), "/dev/nvidia0");
    EXPECT_EQ(gpus.host_settings.find("DeviceRequests"), nullptr);
}

TEST_F(ContainerWay, IsTheRuntimeWhereTheEngineHasIt)
{
    question.info.runtimes.emplace_back("nvidia");
    machine.programs["nvidia-ctk"] = sound;

    const auto gpus = choose().value();

    EXPECT_EQ(gpus.way, "nvidia-runtime");
    EXPECT_THAT(gpus.reason, HasSubstr("1.17.8"));
    EXPECT_EQ(gpus.runtime, "nvidia");
    EXPECT_THAT(gpus.environment,
                ElementsAre("NVIDIA_VISIBLE_DEVICES=GPU-0,GPU-1",
                            "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                            "CUDA_VISIBLE_DEVICES=GPU-0,GPU-1"));
    EXPECT_TRUE(gpus.mounts.empty());
}

TEST_F(ContainerWay, IsADeviceRequestWhereTheHookIs)
{
    machine.write("usr/bin/nvidia-container-runtime-hook");
    machine.programs["nvidia-container-cli"] = "cli-version: 1.18.1\nlib-version: 1.18.1\n";

    const auto gpus = choose().value();

    EXPECT_EQ(gpus.way, "device-request");
    EXPECT_EQ(to_json(gpus.host_settings),
              R"({"DeviceRequests":[{"Driver":"","Count":0,"DeviceIDs":["GPU-0","GPU-1"],)"
              R"("Capabilities":[["gpu","compute","utility"]]}]})");
}

TEST_F(ContainerWay, IsCdiWhereTheEngineHasDescriptionsOfAllGpus)
{
    machine.write("etc/cdi/nvidia.yaml", description);
    machine.programs["nvidia-ctk"] = sound;
    question.info.cdi_directories = {"/etc/cdi", "/var/run/cdi"};

    const auto gpus = choose().value();
    EXPECT_EQ(gpus.way, "cdi");
    EXPECT_EQ(to_json(gpus.host_settings),
              R"({"DeviceRequests":[{"Driver":"cdi","Count":0,)"
              R"("DeviceIDs":["nvidia.com/gpu=0","nvidia.com/gpu=GPU-1"]}]})");

    question.engine.engine = "24.0.7";
    EXPECT_EQ(choose()->way, "direct") << "older engines do not read them";
    question.engine.engine = "28.2.2";
    machine.write("etc/cdi/nvidia.yaml", "kind: nvidia.com/gpu\ndevices:\n- name: \"0\"\n");
    EXPECT_EQ(choose()->way, "direct") << "one of the GPUs is not described";
}

TEST_F(ContainerWay, ToolkitWithKnownHolesIsNotUsed)
{
    question.info.runtimes.emplace_back("nvidia");
    question.info.default_runtime = "nvidia";
    machine.programs["nvidia-ctk"] = holed;

    const auto gpus = choose().value();
    EXPECT_EQ(gpus.way, "direct");
    EXPECT_THAT(gpus.reason, HasSubstr("toolkit 1.17.7 allows an image to break out"));
    EXPECT_THAT(gpus.reason, HasSubstr("CVE-2025-23266, CVE-2025-23267"));
    EXPECT_THAT(gpus.reason, HasSubstr("update it to 1.17.8"));
    EXPECT_EQ(gpus.runtime, "runc") << "nor is it, by being the default";

    machine.programs.clear();
    EXPECT_THAT(choose()->reason, HasSubstr("is unknown"));

    machine.programs["nvidia-ctk"] = holed;
    std::filesystem::remove(machine.root() / "dev/nvidiactl");
    const auto nothing = choose();
    ASSERT_FALSE(nothing);
    EXPECT_THAT(nothing.error().message(), HasSubstr("/dev/nvidiactl"));
    EXPECT_THAT(nothing.error().hint(), HasSubstr("update it to 1.17.8"));
}

TEST_F(ContainerWay, RootlessEnginesAndClosedDeviceFilesAreTold)
{
    std::filesystem::permissions(machine.root() / "dev/nvidia0", std::filesystem::perms(0660));
    ASSERT_EQ(::chown((machine.root() / "dev/nvidia0").c_str(), static_cast<uid_t>(-1), ::getgid()),
              0);
    EXPECT_THAT(choose()->warnings, IsEmpty());

    question.info.rootless = true;

    EXPECT_THAT(
        choose()->warnings,
        Contains(HasSubstr("rootless, and not all users may open '" + machine.root().string())));
}

TEST_F(ContainerWay, GoesIntoTheContainerBesideWhatIsThere)
{
    dockerapi::ContainerSpec spec;
    spec.environment = {"A=1", "NVIDIA_VISIBLE_DEVICES=all", "PATH=/opt/bin"};
    spec.host_settings.set("Devices", JsonArray{"mine"});

    add_gpus(choose().value(), {"LD_LIBRARY_PATH=/opt/lib", "PATH=/usr/bin"}, spec);

    EXPECT_THAT(spec.environment,
                ElementsAre("A=1",
                            "NVIDIA_VISIBLE_DEVICES=void",
                            "CUDA_VISIBLE_DEVICES=GPU-0,GPU-1",
                            "LD_LIBRARY_PATH=/ponk/driver/lib:/opt/lib",
                            "PATH=/ponk/driver/bin:/opt/bin"));
    EXPECT_EQ(spec.host_settings.find("Devices")->as_array().size(), 6U);
}

TEST_F(ContainerWay, OfAmdIsDeviceFilesAndNoWordsOfNvidia)
{
    auto card = MadeMachine::card(0, "amd");
    machine.write("dev/dri/renderD128");
    card.nodes = {"/dev/dri/renderD128"};
    question.devices = {card};
    question.info.runtimes.emplace_back("nvidia");
    machine.programs["nvidia-ctk"] = sound;

    const auto gpus = choose().value();

    EXPECT_EQ(gpus.way, "direct");
    EXPECT_TRUE(gpus.mounts.empty());
    EXPECT_THAT(gpus.environment, Not(Contains(HasSubstr("CUDA_VISIBLE"))));
}

TEST(Toolkit, VersionsAreReadAndComparedAsNumbers)
{
    EXPECT_EQ(holes_of(*parse_toolkit("cli-version: 1.9.0\n")),
              "CVE-2024-0132, CVE-2025-23359, CVE-2025-23266, CVE-2025-23267");
    EXPECT_EQ(holes_of(*parse_toolkit("version 1.16.2")),
              "CVE-2025-23359, CVE-2025-23266, CVE-2025-23267");
    EXPECT_EQ(holes_of(*parse_toolkit("CLI version 1.17.8-rc.1")),
              "CVE-2025-23266, CVE-2025-23267");
    EXPECT_EQ(holes_of(*parse_toolkit("CLI version 1.17.8")), "");
    EXPECT_EQ(holes_of(*parse_toolkit("CLI version v2.0.0")), "");
    for (const auto* bad : {"",
                            "version",
                            "version x",
                            "version 1",
                            "version 1.2",
                            "version 1..2",
                            "version 1.2.99999999999999999999"})
        EXPECT_FALSE(parse_toolkit(bad)) << bad;
}

TEST(Cdi, NamesAreThoseOfDevicesInDescriptionsOfGpus)
{
    EXPECT_THAT(parse_cdi(description), ElementsAre("0", "GPU-1", "all"));
    EXPECT_THAT(parse_cdi(R"({"kind":"nvidia.com/gpu","devices":[{"name":"0"},{"nam":1},7]})"),
                ElementsAre("0"));
    EXPECT_THAT(parse_cdi("kind: vendor.com/net\ndevices:\n- name: a\n"), IsEmpty());
    EXPECT_THAT(parse_cdi("devices:\n  - name: '1'\n    x: y\nkind: \"nvidia.com/gpu\"\n"),
                ElementsAre("1"));
    for (const auto* bad : {"", "{", "[]", "- - -\n- ", "devices:\n-\n- name:\n"})
        EXPECT_THAT(parse_cdi(bad), IsEmpty()) << bad;
}

}  // namespace
}  // namespace ponk::gpu
