// SPDX-License-Identifier: Apache-2.0
#include "executor/environments/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::executor {
namespace {

Job sample()
{
    Job job;
    job.spec.id = RunId::make();
    job.context.directory = RunDirectory("/runs/r");
    job.context.token = "t0k";
    job.context.submitter_environment = {
        "PATH=/bin", "PYTHONPATH=/theirs", "A=shell", "OLDPWD=/x", "broken"};
    job.spec.program.variables = {{"A", "configured"}, {"B", "line\nbreak"}};
    return job;
}

TEST(Environment, TheConfigurationWinsOverTheShell)
{
    const auto environment =
        compose_environment(sample(),
                            sample().context.submitter_environment,
                            {.tree = "/runs/r/work", .python_modules = "/lib/python"});

    EXPECT_EQ(environment.get("A"), "configured");
    EXPECT_EQ(environment.get("B"), "line\nbreak");
    EXPECT_EQ(environment.get("PATH"), "/bin");
    EXPECT_EQ(environment.get("PYTHONUNBUFFERED"), "1");
    EXPECT_EQ(environment.get("PWD"), "/runs/r/work");
    EXPECT_EQ(environment.get("OLDPWD"), "");
}

TEST(Environment, RunThatAskedForNoGpuSeesNoneWhateverItsVariablesSay)
{
    auto job = sample();
    job.spec.program.variables = {{"CUDA_VISIBLE_DEVICES", "0"}, {"HIP_VISIBLE_DEVICES", "1"}};
    const auto usual = compose_environment(job, job.context.submitter_environment, {});
    EXPECT_EQ(usual.get("CUDA_VISIBLE_DEVICES"), "0") << "nobody asked for none";

    job.spec.resources.gpu.origin = GpuRequest::Origin::asked;
    const auto hidden = compose_environment(job, {"ROCR_VISIBLE_DEVICES=0"}, {});
    EXPECT_THAT(hidden.words(), testing::Contains("CUDA_VISIBLE_DEVICES="));
    EXPECT_EQ(hidden.get("HIP_VISIBLE_DEVICES"), "-1");
    EXPECT_EQ(hidden.get("ROCR_VISIBLE_DEVICES"), "-1");

    job.spec.resources.gpu.selection = "1";
    EXPECT_EQ(compose_environment(job, {}, {}).get("CUDA_VISIBLE_DEVICES"), "0");
}

TEST(Environment, OurModulesComeFirstAndTheirsStay)
{
    auto job = sample();
    EXPECT_EQ(
        compose_environment(job, job.context.submitter_environment, {.python_modules = "/lib"})
            .get("PYTHONPATH"),
        "/lib:/theirs");

    job.context.submitter_environment.clear();
    EXPECT_EQ(
        compose_environment(job, job.context.submitter_environment, {.python_modules = "/lib"})
            .get("PYTHONPATH"),
        "/lib");
}

TEST(Environment, AScriptThatIsGivenNamesHasTheFileThatGivesThem)
{
    auto job = sample();
    job.spec.program.script = "code/train.py";
    const RunPlaces places{.tree = "/tree", .python_modules = "/lib"};
    EXPECT_EQ(compose_environment(job, {}, places).get("PONK_SCRIPT"), "");

    job.spec.program.given_names = {"os", "sys"};
    const auto environment = compose_environment(job, {}, places);
    EXPECT_EQ(environment.get("PYTHONPATH"), "/lib/ponk/_names:/lib");
    EXPECT_EQ(environment.get("PONK_GIVEN_NAMES"), "os sys");
    EXPECT_EQ(environment.get("PONK_SCRIPT"), "/tree/code/train.py");
}

TEST(Environment, TheSharedFolderEndsWithASlash)
{
    for (const auto* folder : {"/shared/p", "/shared/p/"}) {
        const auto environment = compose_environment(sample(), {}, {.shared = folder});
        EXPECT_EQ(environment.get("AZUREML_NATIVE_SHARE_DIRECTORY"), "/shared/p/");
    }
}

TEST(Environment, TheRunKnowsItself)
{
    const auto job = sample();
    const auto environment = compose_environment(
        job, job.context.submitter_environment, {.tree = "/w", .control = "/runs/r"});

    EXPECT_EQ(environment.get("PONK_RUN_ID"), job.spec.id.text());
    EXPECT_EQ(environment.get("AZUREML_RUN_ID"), job.spec.id.text());
    EXPECT_EQ(environment.get("PONK_RUN_DIRECTORY"), "/runs/r");
    EXPECT_EQ(environment.get("PONK_OUTPUTS_DIRECTORY"), "/w/outputs");
}

TEST(Environment, MlflowsClientsKnowTheRun)
{
    auto job = sample();
    job.context.tracking.experiment = "7";
    job.context.tracking.experiment_name = "iris";
    job.context.submitter_environment = {"MLFLOW_TRACKING_USERNAME=me",
                                         "MLFLOW_EXPERIMENT_NAME=theirs",
                                         "HTTP_PROXY=http://proxy",
                                         "NO_PROXY=a.b"};
    const auto environment = compose_environment(job, job.context.submitter_environment, {});

    EXPECT_EQ(environment.get("MLFLOW_RUN_ID"), job.spec.id.text());
    EXPECT_EQ(environment.get("MLFLOW_EXPERIMENT_ID"), "7");
    EXPECT_EQ(environment.get("MLFLOW_EXPERIMENT_NAME"), "");
    EXPECT_EQ(environment.get("MLFLOW_TRACKING_TOKEN"), "t0k");
    EXPECT_EQ(environment.get("MLFLOW_TRACKING_USERNAME"), "");
    EXPECT_EQ(environment.get("no_proxy"), "a.b,127.0.0.1");
    EXPECT_EQ(environment.get("NO_PROXY"), "a.b,127.0.0.1");

    job.spec.program.variables.emplace_back("MLFLOW_EXPERIMENT_NAME", "wanted");
    EXPECT_EQ(compose_environment(job, job.context.submitter_environment, {})
                  .get("MLFLOW_EXPERIMENT_NAME"),
              "wanted");
}

TEST(Environment, AConfigurationMayNameAnotherServerForMlflow)
{
    auto job = sample();
    job.context.tracking.experiment = "7";
    job.spec.program.variables = {{"MLFLOW_TRACKING_URI", "http://elsewhere"}};
    const auto environment = compose_environment(job, {}, {});

    EXPECT_EQ(environment.get("MLFLOW_TRACKING_URI"), "http://elsewhere");
    EXPECT_EQ(environment.get("MLFLOW_RUN_ID"), "");
}

TEST(Environment, EachNameOnceAndEveryWordEndedByNul)
{
    Environment environment({"A=1", "A=2"});
    environment.set("B", "");

    EXPECT_EQ(environment.bytes(), std::string("A=2\0B=\0", 7));
}

}  // namespace
}  // namespace ponk::executor
