// SPDX-License-Identifier: Apache-2.0
#include "config/project/check.hpp"
#include "config/project/project.hpp"
#include "config/text/reading_test_support.hpp"

#include <gmock/gmock.h>

namespace ponk::config {
namespace {

ComputeTarget target(const std::string& lines)
{
    Report report("host.compute");
    return read_compute(tree_of("type: local\n" + lines), "host", report);
}

std::string remarks(const std::string& lines)
{
    Report report("host.compute");
    read_compute(tree_of("type: local\n" + lines), "host", report);
    return remarks_of(report.take());
}

std::string run_remarks(const std::string& text)
{
    Report report("x.runconfig");
    read_run_configuration(tree_of(text), "x", report);
    return remarks_of(report.take());
}

TEST(GpuKeys, ListIsOfNames)
{
    EXPECT_EQ(*target("gpus: [0]\n").gpus, "0,");
    EXPECT_EQ(*target("gpus: [1]\n").gpus, "1,");
    EXPECT_EQ(*target("gpus: [0, 1]\n").gpus, "0,1");
    EXPECT_EQ(*target("gpus: [GPU-6f]\n").gpus, "GPU-6f");
    EXPECT_EQ(*target("gpus: []\n").gpus, "none");
    EXPECT_EQ(*target("gpus: 1\n").gpus, "1");
}

TEST(GpuKeys, WrongWishHasItsPlaceInEveryFile)
{
    for (const auto* wrong : {"-2", "1.5", "true", "nnone", "[\"\", a]"})
        EXPECT_EQ(remarks(fmt::format("gpus: {}\n", wrong)), "2:7 error wrong-value") << wrong;
    EXPECT_EQ(remarks("gpus: ALL\n"), "");
    EXPECT_EQ(run_remarks("Target: local\nFramework: Python\ngpus: -2\n"), "3:7 error wrong-value");
    EXPECT_EQ(run_remarks("target: local\nframework: Python\nscript: a.py\ngpus: -2\n"),
              "4:7 error wrong-value");
}

TEST(GpuKeys, ContradictionsAreErrorsAtTheirPlace)
{
    EXPECT_EQ(remarks("gpu: none\ngpus: 1\n"), "3:7 error contradiction");
    EXPECT_EQ(remarks("gpu: required\ngpus: none\n"), "3:7 error contradiction");
    EXPECT_EQ(remarks("gpu: required\ngpus: 0\n"), "3:7 error contradiction");
    EXPECT_EQ(remarks("gpu: none\ngpus: none\n"), "");
    EXPECT_EQ(remarks("gpu: required\ngpus: all\n"), "");
}

TEST(GpuKeys, SharedMachineIsABooleanAndAClustersFolderIsText)
{
    EXPECT_TRUE(*target("shared: true\n").shared_with_others);
    EXPECT_TRUE(*target("shared: yes\n").shared_with_others);
    EXPECT_EQ(remarks("shared: yes\n"), "2:9 warning yaml-1.1-boolean");
    EXPECT_FALSE(*target("shared: false\n").shared_with_others);
    EXPECT_EQ(remarks("shared: maybe\n"), "2:9 error wrong-type");
    EXPECT_EQ(remarks("shared:\n"), "");
    Report report("s.compute");
    const auto cluster = read_compute(
        tree_of("type: slurm\naddress: a\nusername: u\nshared: /shared\n"), "s", report);
    EXPECT_EQ(*cluster.shared, "/shared");
    EXPECT_EQ(remarks_of(report.take()), "");
}

class GpuFiles : public testing::Test {
protected:
    ComputeTarget resolved(const std::string& compute, const std::string& run)
    {
        write(compute, run);
        auto both = resolve(open_project(folder_.path()).value(), "x", {});
        EXPECT_TRUE(both);
        return both->target;
    }
    std::string checked(const std::string& compute, const std::string& run)
    {
        write(compute, run);
        std::string text;
        const auto remarks = check_project(folder_.path()).value();
        for (const auto& remark : remarks)
            text += to_text(remark) + "\n";
        return text;
    }

private:
    void write(const std::string& compute, const std::string& run)
    {
        folder_.write("aml_config/host.compute", "type: local\n" + compute);
        folder_.write("aml_config/x.runconfig", "Target: host\nFramework: Python\n" + run);
    }

    TemporaryFolder folder_;
};

TEST_F(GpuFiles, RunConfigurationHasTheLastWord)
{
    EXPECT_EQ(*resolved("gpus: 1\n", "gpu: none\n").gpus, "");
    EXPECT_EQ(*resolved("gpus: 1\n", "gpu: none\n").gpu, GpuPolicy::none);
    EXPECT_EQ(*resolved("gpu: none\n", "gpus: 1\n").gpu, GpuPolicy::automatic);
    EXPECT_EQ(*resolved("gpu: none\n", "gpus: 1\n").gpus, "1");
    EXPECT_EQ(*resolved("gpu: required\n", "gpus: 1\n").gpu, GpuPolicy::required);
}

TEST_F(GpuFiles, CheckTellsWhatContradictsTheOtherFile)
{
    EXPECT_THAT(checked("gpu: required\n", "gpus: none\n"),
                testing::StartsWith("aml_config/x.runconfig:3:7: error: 'gpus: none' contradicts "
                                    "'gpu: required' of 'aml_config/host.compute'"));
    EXPECT_THAT(checked("gpus: none\n", "gpu: required\n"),
                testing::StartsWith("aml_config/host.compute:2:7: error: 'gpus: none' contradicts "
                                    "'gpu: required' of 'aml_config/x.runconfig'"));
    EXPECT_EQ(checked("gpus: 1\n", "gpu: none\n"), "");
}

}  // namespace
}  // namespace ponk::config
