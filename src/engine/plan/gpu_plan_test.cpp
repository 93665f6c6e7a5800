// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan.hpp"

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

    Submission submission(const std::string& run_configuration = "local")
    {
        Submission submission;
        submission.id = RunId::make();
        submission.project = project_;
        submission.script = "train.py";
        submission.run_configuration = run_configuration;
        submission.launch_context.environment = {"HOME=/home/ann", "PATH=/usr/bin"};
        return submission;
    }
    Result<PlanReport> plan_in_shell(const std::string& devices, const std::string& name = "local")
    {
        auto wanted = submission(name);
        wanted.launch_context.environment.push_back("CUDA_VISIBLE_DEVICES=" + devices);
        return make_plan(wanted);
    }
    Error refused(const Submission& wanted)
    {
        const auto report = make_plan(wanted);
        EXPECT_FALSE(report);
        return report ? Error(ErrorKind::internal, "") : report.error();
    }

private:
    os::Path project_;
};

TEST_F(GpuPlans, ShellThatHidesEveryGpuIsAWishForNone)
{
    for (const auto* hidden : {"", "-1", " -1", "-1,0"}) {
        const auto report = plan_in_shell(hidden).value();
        EXPECT_EQ(report.plan.gpu.selection, "") << hidden;
        ASSERT_EQ(report.notices.size(), 1U) << hidden;
        EXPECT_THAT(report.notices[0], HasSubstr("hides every GPU"));
    }
    EXPECT_TRUE(plan_in_shell("0").value().notices.empty());
    EXPECT_EQ(make_plan(submission()).value().plan.gpu.selection, "all");
}

TEST_F(GpuPlans, ShellsChoiceEndsAtTheFirstWordThatNamesNoDevice)
{
    EXPECT_EQ(plan_in_shell("0,-1").value().plan.gpu.selection, "0,");
    EXPECT_EQ(plan_in_shell("1,0,-1,3").value().plan.gpu.selection, "1,0");
    EXPECT_EQ(plan_in_shell("GPU-a").value().plan.gpu.selection, "GPU-a");
    EXPECT_EQ(plan_in_shell("all").value().plan.gpu.selection, "all") << "of containers: no device";
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
    EXPECT_THAT(refused(submission("x")).message(), StartsWith("aml_config/x.runconfig:3:7: "));
    write("aml_config/local.compute", "type: local\n");
    EXPECT_THAT(refused(submission("x")).message(), StartsWith("aml_config/x.runconfig:3:7: "));
    write_run("");
    write("aml_config/local.compute", "type: local\ngpus: -2\n");
    EXPECT_THAT(refused(submission("x")).message(), StartsWith("aml_config/local.compute:2:7: "));
}

TEST_F(GpuPlans, ContradictionNamesWhatWasWritten)
{
    write_run("gpu: required\n");
    auto wanted = submission("x");
    wanted.gpus = "none";
    EXPECT_EQ(refused(wanted).message(),
              "'--gpus none' contradicts 'gpu: required' of 'aml_config/x.runconfig'");
    write("aml_config/local.compute", "type: local\ngpus: none\n");
    EXPECT_THAT(refused(submission("x")).message(), StartsWith("aml_config/local.compute:2:7: "));
    wanted.gpus = "1";
    EXPECT_EQ(make_plan(wanted).value().plan.gpu.selection, "1") << "the command line goes first";
}

TEST_F(GpuPlans, NoneIsKeptWithThePlanAndVariablesAgainstItAreTold)
{
    auto wanted = submission();
    wanted.gpus = "none";
    wanted.variables = {{"CUDA_VISIBLE_DEVICES", "0"}};
    const auto report = make_plan(wanted).value();
    EXPECT_TRUE(report.plan.gpu.hides_all());
    EXPECT_THAT(report.notices, Contains(HasSubstr("CUDA_VISIBLE_DEVICES='0' is ignored")));
    EXPECT_TRUE(plan_from_json(to_json(report.plan))->gpu.hides_all())
        << "for a daemon that restarts";

    write_run("gpu: none\n");
    EXPECT_TRUE(make_plan(submission("x")).value().plan.gpu.hides_all());
    write_run("");
    EXPECT_FALSE(make_plan(submission("x")).value().plan.gpu.hides_all());
}

TEST_F(GpuPlans, SharedMachineGivesOne)
{
    write("aml_config/local.compute", "type: local\nshared: yes\n");
    EXPECT_EQ(make_plan(submission()).value().plan.gpu.selection, "1");
}

}  // namespace
}  // namespace ponk::engine
