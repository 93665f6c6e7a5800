// SPDX-License-Identifier: Apache-2.0
#include "gpu/container/driver_files.hpp"
#include "gpu/container/driver_libraries.hpp"
#include "gpu/container/made_driver_test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::gpu {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> names(const DriverFiles& files)
{
    std::vector<std::string> all;
    for (const auto& file : files.libraries)
        all.push_back(file.name);
    return all;
}

std::string source_of(const DriverFiles& files, const std::string& name)
{
    for (const auto& file : files.libraries)
        if (file.name == name) return file.source.filename().string();
    return "";
}

TEST(DriverFiles, AreTheNodesOfTheCardAndTheDriverAndRealFiles)
{
    MadeMachine machine;
    machine.driver();

    const auto files = find_driver_files({MadeMachine::card(1)}, machine.search());

    ASSERT_TRUE(files) << files.error().message();
    EXPECT_THAT(
        files->nodes,
        ElementsAre("/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"));
    EXPECT_THAT(
        names(*files),
        ElementsAre(
            "libcuda.so", "libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-ptxjitcompiler.so.1"));
    EXPECT_EQ(source_of(*files, "libcuda.so.1"), "libcuda.so.580.65.06");
    ASSERT_EQ(files->programs.size(), 1U);
    EXPECT_EQ(files->programs[0].source,
              std::filesystem::canonical(machine.root()) / "usr/bin/nvidia-smi");
    EXPECT_THAT(files->remarks, IsEmpty());
}

TEST(DriverFiles, AreFoundInUsualFoldersWithoutTheLoadersHelp)
{
    MadeMachine machine;
    machine.nodes();
    machine.library("usr/local/nvidia/lib64/libcuda.so.580.65.06");
    machine.library("usr/lib/wsl/lib/libnvidia-ml.so.1");
    machine.library("usr/local/nvidia/lib64/libnvidia-gpucomp.so.580.65.06");
    machine.library("usr/lib64/libnvidia-ptxjitcompiler.so.1");
    machine.write("usr/lib64/libnvidia-ml.so.1.txt", "no library");

    const auto files = find_driver_files({MadeMachine::card(0)}, machine.search()).value();

    EXPECT_THAT(names(files),
                ElementsAre("libcuda.so",
                            "libcuda.so.1",
                            "libnvidia-ml.so.1",
                            "libnvidia-ptxjitcompiler.so.1",
                            "libnvidia-gpucomp.so.580.65.06"));
    EXPECT_THAT(files.remarks, Contains("'nvidia-smi' was not found."));
}

TEST(DriverFiles, OfTheLoadedVersionComeBeforeOthers)
{
    MadeMachine machine;
    machine.nodes();
    machine.library("usr/local/cuda/compat/libcuda.so.999.1");
    machine.link("usr/local/cuda/compat/libcuda.so.1", "libcuda.so.999.1");
    machine.cache += "\tlibcuda.so.1 (libc6,x86-64) => /usr/local/cuda/compat/libcuda.so.1\n";
    const auto other = find_driver_files({MadeMachine::card(0)}, machine.search()).value();
    EXPECT_EQ(source_of(other, "libcuda.so.1"), "libcuda.so.999.1");
    EXPECT_THAT(other.remarks, Contains(HasSubstr("does not belong to the loaded driver")));

    machine.driver_library("libcuda", "1");
    const auto files = find_driver_files({MadeMachine::card(0)}, machine.search()).value();
    EXPECT_EQ(source_of(files, "libcuda.so.1"), "libcuda.so.580.65.06");
    EXPECT_THAT(files.remarks, Not(Contains(HasSubstr("999.1"))));
}

TEST(DriverFiles, ForAnotherProcessorAreNamedAndNotUsed)
{
    MadeMachine machine;
    machine.nodes();
    machine.library("usr/lib64/libcuda.so.1", MadeMachine::foreign);
    const auto none = find_driver_files({MadeMachine::card(0)}, machine.search());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind(), ErrorKind::not_found);
    EXPECT_THAT(none.error().message(), HasSubstr("not a library for this processor"));

    machine.library("usr/lib/libcuda.so.1");
    EXPECT_TRUE(find_driver_files({MadeMachine::card(0)}, machine.search()));
}

TEST(DriverFiles, ThatAreMissingAreNamedWithTheNextStep)
{
    MadeMachine machine;
    const auto without_node = find_driver_files({MadeMachine::card(0)}, machine.search());
    EXPECT_THAT(without_node.error().message(), HasSubstr("no device file '/dev/nvidia0'"));
    machine.write("dev/nvidia0");
    const auto without_control = find_driver_files({MadeMachine::card(0)}, machine.search());
    EXPECT_THAT(without_control.error().message(), HasSubstr("'/dev/nvidiactl'"));
    machine.write("dev/nvidiactl");
    const auto without_library = find_driver_files({MadeMachine::card(0)}, machine.search());
    EXPECT_THAT(without_library.error().message(), HasSubstr("'libcuda.so.1'"));
    EXPECT_THAT(without_library.error().hint(), HasSubstr("ldconfig -p"));
    machine.library("usr/lib64/libcuda.so.1");
    const auto files = find_driver_files({MadeMachine::card(0)}, machine.search()).value();
    EXPECT_THAT(files.remarks, Contains(HasSubstr("'/dev/nvidia-uvm' is missing")));
    EXPECT_THAT(files.remarks, Contains(HasSubstr("'libnvidia-ml.so.1' was not found")));

    auto rude = MadeMachine::card(0);
    rude.nodes = {"/etc/shadow"};
    EXPECT_FALSE(find_driver_files({rude}, machine.search()));
}

TEST(DriverFiles, OfAnInstanceHaveItsCapabilities)
{
    MadeMachine machine;
    machine.driver();
    const std::string mig = "proc/driver/nvidia/capabilities/gpu1/mig/";
    machine.write(mig + "gi3/access", "DeviceFileMinor: 30\nDeviceFileMode: 292\n");
    machine.write(mig + "gi3/ci0/access", "DeviceFileMinor: 31\n");
    machine.write(mig + "config", "DeviceFileMinor: 1\n");
    machine.write("dev/nvidia-caps/nvidia-cap1");
    machine.write("dev/nvidia-caps/nvidia-cap30");
    machine.write("dev/nvidia-caps/nvidia-cap31");
    auto instance = MadeMachine::card(1);
    instance.uuid = "MIG-1";
    instance.card = "GPU-1";

    const auto files = find_driver_files({instance}, machine.search()).value();
    EXPECT_THAT(files.nodes, Contains("/dev/nvidia-caps/nvidia-cap30"));
    EXPECT_THAT(files.nodes, Contains("/dev/nvidia-caps/nvidia-cap31"));
    EXPECT_THAT(files.nodes, Not(Contains("/dev/nvidia-caps/nvidia-cap1")));

    instance.nodes.emplace_back("/dev/nvidia-caps/nvidia-cap30");
    const auto exact = find_driver_files({instance}, machine.search()).value();
    EXPECT_THAT(exact.nodes, Not(Contains("/dev/nvidia-caps/nvidia-cap31")));
}

TEST(DriverFiles, OfOtherVendorsAreDeviceFilesOnly)
{
    MadeMachine machine;
    machine.write("dev/dri/renderD128");
    machine.write("dev/kfd");
    auto card = MadeMachine::card(0, "amd");
    card.nodes = {"/dev/dri/renderD128"};

    const auto files = find_driver_files({card}, machine.search()).value();

    EXPECT_THAT(files.nodes, ElementsAre("/dev/dri/renderD128", "/dev/kfd"));
    EXPECT_TRUE(files.libraries.empty());
}

TEST(DriverFiles, LinesOfTheLoaderAreReadAsTheyAre)
{
    const auto files =
        parse_ldconfig("603 libs found\n\tlibcuda.so.1 (libc6,x86-64) => /a b/libcuda.so.1\n"
                       "\tlibcuda.so.1 (libc6)\n => /x\nlibnvidia-ml.so.1 (\n\t\n");
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].name, "libcuda.so.1");
    EXPECT_EQ(files[0].source, "/a b/libcuda.so.1");
}

}  // namespace
}  // namespace ponk::gpu
