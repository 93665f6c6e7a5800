// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/resolve_run_test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace ponk::engine {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

class GpuPlans : public testing::Test {
protected:
    GpuPlans() : project_(*os::make_temporary_directory(testing::TempDir(), "ponk-gpu-plan-"))
    {
        write("train.py", "print(1)\n");
    }
    ~GpuPlans() override { static_cast<void>(os::remove_tree(project_)); }

    void write(const std::string& name, const std::string& text)
    {
        std::filesystem::create_directories((project_ / name).parent_path());
        static_cast<void>(os::replace_file(project_ / name, text));
    }
    void write_run(const std::string& lines)
    {
        write("aml_config/x.runconfig", "Target: local\nFramework: Python\n" + lines);
    }

    RunRequest request(const std::string& run_configuration = "local")
    {
        RunRequest request;
        request.id = RunId::make();
        request.project = project_;
        request.script = "train.py";
        request.run_configuration = run_configuration;
        return request;
    }
    Result<ResolvedRun> plan_in_shell(const std::string& devices, const std::string& name = "local")
    {
        auto shell = submitter_;
        shell.environment.push_back("CUDA_VISIBLE_DEVICES=" + devices);
        return resolve_run(request(name), shell);
    }
    Error refused(const RunRequest& wanted)
    {
        const auto report = resolve_run(wanted, submitter_);
        EXPECT_FALSE(report);
        return report ? Error(ErrorKind::internal, "") : report.error();
    }

    const Submitter submitter_{.environment = {"HOME=/home/ann", "PATH=/usr/bin"}};

private:
    os::Path project_;
};

TEST_F(GpuPlans, ShellThatHidesEveryGpuRequestsNone)
{
    for (const auto* hidden : {"", "-1", " -1", "-1,0"}) {
        const auto report = plan_in_shell(hidden).value();
        EXPECT_EQ(report.spec.resources.gpu.selection, "") << hidden;
        ASSERT_EQ(report.notices.size(), 1U) << hidden;
        EXPECT_THAT(report.notices[0], HasSubstr("hides every GPU"));
    }
    EXPECT_TRUE(plan_in_shell("0").value().notices.empty());
    EXPECT_EQ(resolve_run(request(), submitter_).value().spec.resources.gpu.selection, "all");
}

TEST_F(GpuPlans, ShellsChoiceEndsAtTheFirstWordThatNamesNoDevice)
{
    EXPECT_EQ(plan_in_shell("0,-1").value().spec.resources.gpu.selection, "0,");
    EXPECT_EQ(plan_in_shell("1,0,-1,3").value().spec.resources.gpu.selection, "1,0");
    EXPECT_EQ(plan_in_shell("GPU-a").value().spec.resources.gpu.selection, "GPU-a");
    EXPECT_EQ(plan_in_shell("all").value().spec.resources.gpu.selection, "all")
        << "of containers: no device";
}

TEST_F(GpuPlans, RequiredGpuCannotBeHiddenByTheShell)
{
    write_run("gpu: required\n");
    const auto report = plan_in_shell("-1", "x");
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message(), HasSubstr("which hides every GPU"));
}

TEST_F(GpuPlans, WrongWishIsToldWhereItStands)
{
    write_run("gpus: -2\n");
    EXPECT_THAT(refused(request("x")).message(), StartsWith("aml_config/x.runconfig:3:7: "));
    write("aml_config/local.compute", "type: local\n");
    EXPECT_THAT(refused(request("x")).message(), StartsWith("aml_config/x.runconfig:3:7: "));
    write_run("");
    write("aml_config/local.compute", "type: local\ngpus: -2\n");
    EXPECT_THAT(refused(request("x")).message(), StartsWith("aml_config/local.compute:2:7: "));
}

TEST_F(GpuPlans, ContradictionNamesWhatWasWritten)
{
    write_run("gpu: required\n");
    auto wanted = request("x");
    wanted.gpus = "none";
    EXPECT_EQ(refused(wanted).message(),
              "'--gpus none' contradicts 'gpu: required' of 'aml_config/x.runconfig'");
    write("aml_config/local.compute", "type: local\ngpus: none\n");
    EXPECT_THAT(refused(request("x")).message(), StartsWith("aml_config/local.compute:2:7: "));
    wanted.gpus = "1";
    EXPECT_EQ(resolve_run(wanted, submitter_).value().spec.resources.gpu.selection, "1")
        << "the command line goes first";
}

TEST_F(GpuPlans, NoneIsKeptWithThePlanAndVariablesAgainstItAreTold)
{
    auto wanted = request();
    wanted.gpus = "none";
    wanted.variables = {{"CUDA_VISIBLE_DEVICES", "0"}};
    const auto report = resolve_run(wanted, submitter_).value();
    EXPECT_TRUE(report.spec.resources.gpu.hides_all());
    EXPECT_THAT(report.notices, Contains(HasSubstr("CUDA_VISIBLE_DEVICES='0' is ignored")));
    EXPECT_TRUE(model::parse_run_spec(to_json(report.spec))->resources.gpu.hides_all())
        << "for a daemon that restarts";

    write_run("gpu: none\n");
    EXPECT_TRUE(resolve_run(request("x"), submitter_).value().spec.resources.gpu.hides_all());
    write_run("");
    EXPECT_FALSE(resolve_run(request("x"), submitter_).value().spec.resources.gpu.hides_all());
}

TEST_F(GpuPlans, SharedMachineGivesOne)
{
    write("aml_config/local.compute", "type: local\nshared: yes\n");
    EXPECT_EQ(resolve_run(request(), submitter_).value().spec.resources.gpu.selection, "1");
}

}  // namespace
}  // namespace ponk::engine
