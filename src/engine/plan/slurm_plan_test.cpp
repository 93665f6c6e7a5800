// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/resolve_run_test_support.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class SlurmPlans : public testing::Test {
protected:
    SlurmPlans()
    {
        write("aml_config/cluster.runconfig", "Target: cluster\nFramework: Python\n");
        write_target("partition: main\n");
        write("train.py", "print(1)\n");
    }

    void write(const std::string& name, const std::string& text)
    {
        ASSERT_TRUE(os::make_directories((folder_.path() / name).parent_path()));
        ASSERT_TRUE(os::replace_file(folder_.path() / name, text));
    }
    void write_target(const std::string& lines)
    {
        write("aml_config/cluster.compute", "type: slurm\n" + lines);
    }

    RunRequest request_of(const std::string& script)
    {
        RunRequest request;
        request.id = RunId::make();
        request.project = folder_.path();
        request.script = script;
        request.run_configuration = "cluster";
        return request;
    }
    Result<ResolvedRun> plan(const std::string& script, std::optional<std::string> gpus = {})
    {
        auto request = request_of(script);
        request.gpus = std::move(gpus);
        return resolve_run(request, submitter_);
    }
    std::string gres_of(const std::string& script, std::optional<std::string> gpus = {})
    {
        return plan(script, std::move(gpus)).value().spec.location.slurm->gres;
    }

    const Submitter submitter_{.environment = {"HOME=/home/ann", "PATH=/usr/bin:/bin"}};

private:
    os::TestFolder folder_;
};

TEST_F(SlurmPlans, GpusAreANumberThatSlurmIsAskedFor)
{
    EXPECT_EQ(gres_of("train.py"), "");
    EXPECT_TRUE(plan("train.py").value().spec.resources.gpu.empty());
    EXPECT_EQ(gres_of("train.py", "2"), "gpu:2");
    write_target("gres: gpu:a100:4\n");
    const auto four = plan("train.py").value().spec.resources.gpu;
    EXPECT_EQ(four.selection, "4");
    EXPECT_EQ(four.origin, model::GpuRequest::Origin::asked);
    EXPECT_EQ(gres_of("train.py", "1"), "gpu:a100:1");
    EXPECT_EQ(gres_of("train.py", "none"), "");
    EXPECT_TRUE(plan("train.py", "none").value().spec.resources.gpu.hides_all());
    EXPECT_THAT(plan("train.py", "all").error().message(), HasSubstr("Slurm chooses"));

    write_target("gpu: required\n");
    EXPECT_EQ(gres_of("train.py"), "gpu:1");
    EXPECT_EQ(plan("train.py").value().spec.resources.gpu.need, model::GpuRequest::Need::required);
    write_target("gpu: none\n");
    write("job.sh", "#!/bin/sh\n#SBATCH --gpus=4\necho\n");
    EXPECT_TRUE(plan("job.sh").value().spec.resources.gpu.hides_all());
    EXPECT_THAT(plan("job.sh").value().spec.location.slurm->options, IsEmpty());
    write_target("");
    EXPECT_EQ(plan("job.sh").value().spec.resources.gpu.selection, "4");
}

TEST_F(SlurmPlans, LinesOfAJobScriptGoBeforeTheTargets)
{
    write_target("partition: main\naccount: lab\nsbatch:\n  mem: 1G\n");
    write("job.sh",
          "#!/bin/sh\n#SBATCH -p gpu --gres=gpu:2\n#SBATCH --mem=4G -N 1 --ntasks=1 --exclusive\n"
          "#SBATCH --output=log.txt\n#SBATCH -J training\npython3 train.py\n");
    const auto run = plan("job.sh").value();
    const auto& slurm = *run.spec.location.slurm;

    EXPECT_EQ(slurm.partition, "gpu");
    EXPECT_EQ(slurm.account, "lab");
    EXPECT_EQ(slurm.gres, "gpu:2");
    EXPECT_THAT(slurm.options, ElementsAre("--mem=1G", "--mem=4G", "--exclusive"));
    EXPECT_EQ(run.spec.resources.gpu.selection, "2");
    EXPECT_THAT(run.notices,
                ElementsAre("job.sh: ponk sets --output, --job-name itself: the script's '#SBATCH' "
                            "lines are not used"));
    EXPECT_EQ(gres_of("job.sh", "1"), "gpu:1") << "the command line goes first";
    EXPECT_THAT(plan("train.py").value().notices, IsEmpty());
}

TEST_F(SlurmPlans, WhatIsTypedHereDoesNotReachANode)
{
    auto request = request_of("train.py");
    request.interactive = true;
    EXPECT_THAT(resolve_run(request, submitter_).error().message(),
                HasSubstr("'cluster' is on a node of a cluster"));
}

TEST_F(SlurmPlans, AJobScriptForManyProcessesIsAnErrorWithItsLine)
{
    for (const char* line : {"--array=1-10", "-N 2", "--ntasks-per-node 8", "--clusters=other"}) {
        write("job.sh", std::string("#!/bin/sh\n#SBATCH ") + line + "\necho\n");
        EXPECT_THAT(plan("job.sh").error().message(), StartsWith("job.sh:2: '#SBATCH --")) << line;
    }
}

}  // namespace
}  // namespace ponk::engine
