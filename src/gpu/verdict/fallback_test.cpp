// SPDX-License-Identifier: Apache-2.0
// The maps in tests/golden/gpu have the names that the packages of 2024 to 2026 install.
#include "base/text.hpp"
#include "gpu/process_facts.hpp"
#include "gpu/verdict/fallback.hpp"
#include "gpu/verdict/fallback_builds.hpp"
#include "os/process.hpp"
#include "os/test_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ponk::gpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* site = "opt/env/lib/python3.11/site-packages";

class Fallback : public testing::Test {
protected:
    Fallback()
    {
        Device device;
        device.uuid = "GPU-aaaa-bbbb";
        device.index = 2;
        leased_.devices = {device};
        leased_.driver_version = "580.65.06";
        leased_.cuda_version = "13.0";
        static_cast<void>(os::make_directories(files()));
    }

    void put_process(pid_t pid,
                     const std::string& maps,
                     const std::vector<std::string>& environment = {"HOME=/root"},
                     const std::string& name = "python3")
    {
        const auto folder = proc() / std::to_string(pid);
        std::string stat = fmt::format("{} ({}) S 1", pid, name);
        for (int i = 0; i < 30; ++i)
            stat += " 5";
        put(folder / "stat", stat);
        put(folder / "maps",
            os::read_file(Path(PONK_GOLDEN) / "gpu" / ("maps-" + maps + ".txt")).value());
        std::string words;
        for (const auto& word : environment)
            words += word + '\0';
        put(folder / "environ", words);
        put(folder / "status",
            "Name:\tpython3\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:"
            "\t44 1000 \n");
        pids_.push_back(pid);
    }
    void put_file(const std::string& relative, const std::string& text = "")
    {
        put(files() / relative, text);
    }
    void put_torch(const std::string& version_text)
    {
        put_file(fmt::format("{}/torch/lib/libtorch_cpu.so", site));
        put_file(fmt::format("{}/torch/version.py", site), version_text);
    }
    std::vector<Finding> found()
    {
        return find_fallback(
            pids_,
            leased_,
            {.proc = proc(), .files = files(), .main = pids_.empty() ? 0 : pids_.front()});
    }
    std::vector<std::string> codes()
    {
        std::vector<std::string> out;
        for (const auto& finding : found())
            out.push_back((finding.certain ? "certain " : "") + finding.code);
        return out;
    }

    [[nodiscard]] Path proc() const { return folder_.path() / "proc"; }
    [[nodiscard]] Path files() const { return folder_.path() / "files"; }
    static void put(const Path& path, const std::string& text)
    {
        ASSERT_TRUE(os::make_directories(path.parent_path()));
        ASSERT_TRUE(os::replace_file(path, text, 0600, os::Durable::no));
    }

    os::TestFolder folder_;
    Inventory leased_;
    std::vector<pid_t> pids_;
};

TEST_F(Fallback, CpuOnlyTorchIsCertainAndNamesItsVersion)
{
    put_torch("__version__ = '2.5.1+cpu'\ncuda: Optional[str] = None\n");
    put_process(10, "torch-cpu");

    EXPECT_THAT(codes(), ElementsAre("certain cpu-build"));
    EXPECT_THAT(found()[0].sentence, HasSubstr("PyTorch 2.5.1+cpu of process 10"));
    EXPECT_THAT(found()[0].sentence, HasSubstr("libtorch_cuda.so"));
}

TEST_F(Fallback, OfAProcessThatIsNotTheMainOneNothingIsCertain)
{
    put_torch("__version__ = '2.5.1+cpu'\n");
    put_process(10, "python");
    put_process(11, "torch-cpu");

    EXPECT_THAT(codes(), ElementsAre("cpu-build"));
    EXPECT_EQ(found()[0].pid, 11);
    const auto nobody = find_fallback(pids_, leased_, {.proc = proc(), .files = files()});
    EXPECT_FALSE(nobody.at(0).certain);

    pids_ = {9, 10, 11};
    put_process(9, "torch-cpu");  // a worker that started earlier, by its pid
    const auto main = find_fallback(pids_, leased_, {.proc = proc(), .files = files(), .main = 11});
    EXPECT_TRUE(main.at(0).certain);
    EXPECT_EQ(main.at(0).pid, 11);
}

TEST_F(Fallback, LinksOfAProcessLeadToItsOwnFiles)
{
    const os::TestFolder elsewhere;
    put(elsewhere.path() / "version.py", "__version__ = 'of the host'\n");
    put_file(fmt::format("{}/torch/lib/libtorch_cpu.so", site));
    const auto link = files() / site / "torch/version.py";
    std::filesystem::create_symlink(elsewhere.path() / "version.py", link);
    put_process(10, "torch-cpu");
    EXPECT_THAT(found().at(0).sentence, HasSubstr("PyTorch of process 10"));

    std::filesystem::remove(link);
    put_file("opt/version.py", "__version__ = '2.5'\n");
    std::filesystem::create_symlink("/opt/version.py", link);
    EXPECT_THAT(found().at(0).sentence, HasSubstr("PyTorch 2.5 of process 10"));
}

TEST_F(Fallback, TorchThatIsJustBeingLoadedIsNotTakenForACpuBuild)
{
    put_torch("__version__ = '2.6.0+cu124'\n");
    put_file(fmt::format("{}/torch/lib/libtorch_cuda.so", site));
    put_process(10, "torch-cpu");

    EXPECT_THAT(codes(), ElementsAre("driver-library-not-loaded"));
}

TEST_F(Fallback, TorchWhoseFilesCannotBeSeenIsNotGuessed)
{
    put_process(10, "torch-cpu");

    EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(Fallback, CpuBuildBesideAGpuBuildIsNotCertain)
{
    put_torch("__version__ = '2.5.1'\n");
    put_process(10, "torch-cpu");
    put_process(11, "tensorflow");
    put_file(fmt::format("{}/tensorflow/python/platform/build_info.py", site),
             "build_info = collections.OrderedDict([('is_cuda_build', True), ('is_rocm_build', "
             "False)])\n");

    EXPECT_THAT(codes(), ElementsAre("cpu-build", "driver-library-not-loaded"));
}

TEST_F(Fallback, TensorFlowIsJudgedByWhatItsBuildSays)
{
    const auto info = fmt::format("{}/tensorflow/python/platform/build_info.py", site);
    put_process(10, "tensorflow");
    EXPECT_THAT(codes(), IsEmpty());

    put_file(fmt::format("{}/tensorflow_cpu-2.16.1.dist-info/METADATA", site));
    EXPECT_THAT(codes(), ElementsAre("certain cpu-build"));
    EXPECT_THAT(found()[0].sentence, HasSubstr("TensorFlow 2.16.1"));
    EXPECT_THAT(found()[0].sentence, HasSubstr("'tensorflow-cpu'"));

    for (const char* text : {"build_info = collections.OrderedDict([('is_cuda_build', False), "
                             "('is_rocm_build', False)])\n",
                             "build_info = {'is_rocm_build': False, 'is_cuda_build': False}\n",
                             "is_rocm_build = False\nis_cuda_build = False\n"}) {
        put_file(info, text);
        EXPECT_THAT(codes(), ElementsAre("certain cpu-build")) << text;
    }
    for (const char* text : {"build_info = {'is_rocm_build': False, 'is_cuda_build': True}\n",
                             "build_info = {'is_rocm_build': True, 'is_cuda_build': False}\n"}) {
        put_file(info, text);
        EXPECT_THAT(codes(), ElementsAre("driver-library-not-loaded")) << text;
    }
}

TEST_F(Fallback, JaxWithoutItsPluginIsACpuBuild)
{
    put_file(fmt::format("{}/jaxlib/_jax.so", site));
    put_file(fmt::format("{}/jaxlib-0.9.2.dist-info/METADATA", site));
    put_process(10, "jax");
    EXPECT_THAT(codes(), ElementsAre("certain cpu-build"));
    EXPECT_THAT(found()[0].sentence, HasSubstr("JAX 0.9.2"));

    put_process(10, "jax", {"PYTHONPATH=/elsewhere"});
    EXPECT_THAT(codes(), ElementsAre("cpu-build"));

    put_file(fmt::format("{}/jax_cuda12_plugin/_solver.so", site));
    EXPECT_THAT(codes(), ElementsAre("driver-library-not-loaded"));
}

TEST_F(Fallback, JaxToldToStayOnTheCpuIsHidden)
{
    put_file(fmt::format("{}/jax_cuda12_plugin/_solver.so", site));
    put_process(10, "jax", {"JAX_PLATFORMS=cpu"});

    EXPECT_THAT(codes(), ElementsAre("certain hidden-devices", "driver-library-not-loaded"));
}

TEST_F(Fallback, CudaNewerThanTheDriverIsCertainOnceTheDriversOwnLibraryIsLoaded)
{
    put_process(10, "torch-cuda-driver");
    EXPECT_THAT(codes(), ElementsAre("certain cuda-newer-than-driver"));
    EXPECT_THAT(found()[0].sentence, HasSubstr("CUDA 14, but driver 580.65.06 supports CUDA 13.0"));

    leased_.driver_version = "570.1";  // a newer library was put beside an older driver
    EXPECT_THAT(codes(), ElementsAre("cuda-newer-than-driver"));
    leased_.cuda_version = "14.1";
    EXPECT_THAT(codes(), IsEmpty());
    leased_.cuda_version = "";
    EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(Fallback, ValuesThatHideDevicesAreToldApart)
{
    const std::vector<std::pair<std::string, std::string>> table{
        {"", "certain hidden-devices"},
        {"-1", "certain hidden-devices"},
        {"NoDevFiles", "certain hidden-devices"},
        {"-1,0", "certain hidden-devices"},
        {"GPU-cccc", "certain other-devices"},
        {"MIG-1", "other-devices"},
        {"7", "other-devices"},
        {"0", ""},  // first of the leased ones in a container
        {"2", ""},
        {"GPU-aaaa", ""},
        {"GPU-aaaa-bbbb,-1", ""},
    };
    for (const auto& [value, expected] : table) {
        pids_.clear();
        put_process(10, "torch-cuda", {"A=b", "CUDA_VISIBLE_DEVICES=" + value});
        auto seen = codes();
        std::erase(seen, "driver-library-not-loaded");
        EXPECT_EQ(join(seen, ","), expected) << value;
    }
}

TEST_F(Fallback, HiddenFromSomeWorkersOnlyIsNormal)
{
    put_process(10, "torch-cuda", {"CUDA_VISIBLE_DEVICES="});
    put_process(11, "torch-cuda-driver", {"CUDA_VISIBLE_DEVICES=GPU-aaaa"});
    leased_.cuda_version = "14.0";

    EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(Fallback, ShellAroundTheInterpreterDoesNotCount)
{
    put_process(10, "python", {"CUDA_VISIBLE_DEVICES=GPU-aaaa"}, "bash");
    put_process(11, "python", {"CUDA_VISIBLE_DEVICES=-1"});

    EXPECT_THAT(codes(), ElementsAre("hidden-devices"));
    EXPECT_THAT(found()[0].sentence, HasSubstr("'-1' in process 11 (python3)"));
}

TEST_F(Fallback, NodesThatMayNotBeOpenedAreNamed)
{
    leased_.devices[0].nodes = {"/dev/nvidia2"};
    put_process(10, "torch-cuda");
    auto missing = codes();
    EXPECT_THAT(missing, testing::Contains("node-missing"));

    put_file("dev/nvidia2");
    const auto node = files() / "dev/nvidia2";
    ASSERT_EQ(::chmod(node.c_str(), 0660), 0);
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to give the node away";
    ASSERT_EQ(::chown(node.c_str(), 0, 500), 0);
    EXPECT_THAT(codes(), testing::Contains("certain node-permission"));
    EXPECT_THAT(found()[0].sentence,
                HasSubstr("user 1000 of process 10 may not open '/dev/nvidia2' (mode 660)"));
    ASSERT_EQ(::chown(node.c_str(), 0, 44), 0);  // a group of the process
    EXPECT_THAT(codes(), testing::Not(testing::Contains("certain node-permission")));
}

TEST_F(Fallback, ProcessesThatEndedOrAreOthersTellNothing)
{
    pids_ = {4711};
    EXPECT_THAT(codes(), IsEmpty());
    pids_.clear();
    EXPECT_THAT(codes(), IsEmpty());
}

TEST(FallbackReal, EnvironmentOfALivingProcessIsRead)
{
    const auto child = os::spawn(
        {.argv = {"sleep", "60"},
         .env = std::vector<std::string>{"PATH=/usr/bin:/bin", "CUDA_VISIBLE_DEVICES=NoDevFiles"},
         .directory = {},
         .input = {},
         .descriptors = {}});
    ASSERT_TRUE(child) << child.error().message();
    // The kernel shows no environment while it is being replaced.
    for (int tries = 0;
         tries < 10'000 &&
         find_environment("/proc", child->pid).value_or(std::vector<std::string>()).size() != 2;
         ++tries)
        ::usleep(1000);
    Inventory leased;
    leased.devices.resize(1);

    const auto found = find_fallback({child->pid}, leased);

    ::kill(child->pid, SIGKILL);
    ::waitpid(child->pid, nullptr, 0);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].code, "hidden-devices");
    EXPECT_THAT(found[0].sentence, HasSubstr("CUDA_VISIBLE_DEVICES is 'NoDevFiles'"));
}

TEST(ProcessMaps, NamesWithBlanksAndDeletedFilesAreRead)
{
    EXPECT_THAT(parse_mapped_files("7f-80 r--p 0 fe:01 5   /a b/c.so\n"
                                   "7f-80 r--p 0 fe:01 5   /x/libcuda.so.1 (deleted)\n"
                                   "7f-80 rw-p 0 00:00 0   [heap]\n"
                                   "7f-80 rw-p 0 00:00 0\n"
                                   "7f-80 r-xp 0 fe:01 5   /a b/c.so\nnoise"),
                ElementsAre("/a b/c.so", "/x/libcuda.so.1"));
}

TEST(CudaLibraries, AreKnownByTheirNames)
{
    const auto none = find_cuda_libraries({"/x/libcudart_static.a", "/x/libcudadebugger.so.1"});
    EXPECT_FALSE(none.runtime_major);
    EXPECT_FALSE(none.driver);
    const auto some = find_cuda_libraries(
        {"/x/libcudart-a7b20f20.so.11.0", "/y/libcudart.so.12.4.127", "/z/libcuda.so.1"});
    EXPECT_EQ(some.runtime_major, 12);
    EXPECT_TRUE(some.driver);
    EXPECT_EQ(some.driver_version, "");
    EXPECT_EQ(find_cuda_libraries({"/z/libcuda.so.580.65.06"}).driver_version, "580.65.06");
}

}  // namespace
}  // namespace ponk::gpu
