// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/resolve_run_test_support.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace ponk::engine {
namespace {

class Plans : public testing::Test {
protected:
    Plans() : project_(*os::make_temporary_directory(testing::TempDir(), "ponk-plan-"))
    {
        write("train.py", "print(1)\n");
    }
    ~Plans() override { static_cast<void>(os::remove_tree(project_)); }

    void write(const std::string& name, const std::string& text)
    {
        std::filesystem::create_directories((project_ / name).parent_path());
        static_cast<void>(os::replace_file(project_ / name, text));
    }

    RunRequest request(std::optional<std::string> script = "train.py")
    {
        RunRequest request;
        request.id = RunId::make();
        request.project = project_;
        request.script = std::move(script);
        return request;
    }

    Path project_;
    Submitter submitter_{.environment = {"HOME=/home/ann", "PATH=/usr/bin"}};
};

TEST_F(Plans, AFolderWithNothingButAScriptRunsLocallyInPython)
{
    auto wanted = request();
    wanted.arguments = {"--epochs", "3", "-c", "x y"};

    const auto report = resolve_run(wanted, submitter_);

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(target_type(report->spec), "local");
    EXPECT_EQ(report->spec.program.framework, "Python");
    EXPECT_EQ(report->spec.program.interpreter, "");
    EXPECT_EQ(report->spec.program.arguments, wanted.arguments);
    EXPECT_EQ(report->spec.runtime.shared_directory,
              "/home/ann/.azureml/share/" + report->spec.project);
}

// It names the folder that runs share, which containers get whole.
TEST_F(Plans, AnIdThatIsNotAPlainNameDoesNotCount)
{
    const auto plain = resolve_run(request(), submitter_)->spec.project;
    for (const char* id : {"/", "/etc", "..", "../..", "a/b", ".hidden", "", "a b", "x\\ny"}) {
        write(".azureml/project.json",
              fmt::format(R"({{"Id": "{}", "Scope": "/projects/x"}})", id));
        const auto report = resolve_run(request(), submitter_);
        ASSERT_TRUE(report) << id;
        EXPECT_EQ(report->spec.project, plain) << id;
        EXPECT_EQ(report->spec.runtime.shared_directory, "/home/ann/.azureml/share/" + plain) << id;
    }
    write(".azureml/project.json", R"({"Id": "0f4c-11_e8.A", "Scope": "/projects/x"})");
    EXPECT_EQ(resolve_run(request(), submitter_)->spec.project, "0f4c-11_e8.A");
}

TEST_F(Plans, AMissingScriptGetsTheNearestName)
{
    const auto report = resolve_run(request("trian.py"), submitter_);

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind(), ErrorKind::not_found);
    EXPECT_EQ(report.error().hint(), "Did you mean 'train.py'?");
}

TEST_F(Plans, AScriptOutsideTheProjectIsRefused)
{
    for (const char* script : {"../train.py", "/etc/passwd", "a/../../train.py", ""}) {
        const auto report = resolve_run(request(script), submitter_);
        ASSERT_FALSE(report) << script;
    }
}

TEST_F(Plans, AnIgnoredScriptIsToldBeforeAnythingStarts)
{
    write(".amlignore", "train.py\n");

    const auto report = resolve_run(request(), submitter_);

    ASSERT_FALSE(report);
    EXPECT_NE(report.error().message().find(".amlignore:1: train.py"), std::string::npos);
}

TEST_F(Plans, ArgumentVectorServesWhenNoScriptIsNamed)
{
    write("aml_config/local.runconfig",
          "ArgumentVector:\n  - train.py\n  - --epochs\n  - 5\nTarget: local\nFramework: Python\n"
          "EnvironmentVariables:\n  A: '1'\n  KEY: secret:STORE\n");
    write("aml_config/local.compute", "type: local\npythonLocation: ~/env/bin/python\n");
    write("env/bin/python", "#!/bin/sh\n");
    std::filesystem::permissions(project_ / "env/bin/python", std::filesystem::perms::owner_all);
    auto wanted = request(std::nullopt);
    wanted.variables = {{"A", "2"}};
    submitter_.environment[0] = "HOME=" + project_.native();

    const auto report = resolve_run(wanted, submitter_);

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->spec.program.script, "train.py");
    EXPECT_EQ(report->spec.program.arguments, (std::vector<std::string>{"--epochs", "5"}));
    EXPECT_EQ(report->spec.program.interpreter, project_.native() + "/env/bin/python");
    EXPECT_EQ(secret_names(report->spec), std::vector<std::string>{"STORE"});
    const Variables expected{{"KEY", "secret:STORE"}, {"A", "2"}};
    EXPECT_EQ(report->spec.program.variables, expected);
}

TEST_F(Plans, TheScriptKnowsHowDataSourcesAreRead)
{
    write("aml_config/local.runconfig",
          "Target: local\nFramework: Python\nUseSampling: false\n"
          "DataSourceSubstitutions:\n  a b.dsource: c.dsource\n");

    const auto report = resolve_run(request(), submitter_);

    ASSERT_TRUE(report) << report.error().message();
    const Variables expected{{"PONK_DATA_SAMPLING", "off"},
                             {"PONK_DATA_SOURCES", R"({"a b.dsource":"c.dsource"})"}};
    EXPECT_EQ(report->spec.program.variables, expected);
}

TEST_F(Plans, AnInterpreterThatIsNotThereIsToldWithItsPlace)
{
    write("aml_config/local.compute", "type: local\npythonLocation: ~/env/bin/python\n");

    const auto report = resolve_run(request(), submitter_);

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().message(),
              "aml_config/local.compute:2:17: python '~/env/bin/python' does not exist");
}

TEST_F(Plans, NoScriptAtAllSaysHowToNameOne)
{
    const auto report = resolve_run(request(std::nullopt), submitter_);

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().message(), "no script given");
}

TEST_F(Plans, SparkDependenciesBecomeOptions)
{
    write("aml_config/local.runconfig", "Target: local\nFramework: PySpark\n");
    write("aml_config/spark_dependencies.yml",
          "configuration:\n  spark.app.name: demo\nrepositories:\n  - https://example.org/maven\n"
          "packages:\n  - group: g\n    artifact: a\n    version: 1.0\n");

    const auto report = resolve_run(request(), submitter_);

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->spec.program.spark_options,
              (std::vector<std::string>{"--conf",
                                        "spark.app.name=demo",
                                        "--packages",
                                        "g:a:1.0",
                                        "--repositories",
                                        "https://example.org/maven"}));
}

TEST_F(Plans, AnotherMachineIsNamedAndItsPathsAreLeftToIt)
{
    write("aml_config/host.compute",
          "type: remotedocker\naddress: gpu1:5022\nusername: ann\nbaseDockerImage: base:1\n"
          "nativeSharedDirectory: ~/share/\npythonLocation: ~/env/bin/python\nscratch: /data\n"
          "privateKey: ~/.ssh/host\n");
    write("aml_config/host.runconfig", "Target: host\nFramework: Python\n");
    auto wanted = request();
    wanted.run_configuration = "host";

    const auto report = resolve_run(wanted, submitter_);

    ASSERT_TRUE(report) << report.error().message();
    const auto& spec = report->spec;
    EXPECT_EQ(target_type(spec), "remotedocker");
    EXPECT_EQ(spec.location.host.address, "gpu1");
    EXPECT_EQ(spec.location.host.port, 5022);
    EXPECT_EQ(spec.location.host.user, "ann");
    EXPECT_EQ(spec.location.host.scratch, "/data");
    EXPECT_EQ(spec.location.host.private_key, "/home/ann/.ssh/host") << "a key is on this machine";
    EXPECT_EQ(spec.program.interpreter, "~/env/bin/python");
    EXPECT_TRUE(spec.runtime.shared_directory.starts_with("~/share/"));

    wanted.interactive = true;
    const auto refused = resolve_run(wanted, submitter_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(),
              "'--interactive' needs a target on this machine: 'host' is on 'gpu1', and what is "
              "typed here does not reach it");
}

TEST_F(Plans, FolderOfEventFilesIsTheRequestsElseTheConfigurations)
{
    write("aml_config/board.runconfig", "Target: local\nFramework: Python\ntensorboard: logs/tb\n");
    auto wanted = request();
    wanted.run_configuration = "board";

    const auto report = resolve_run(wanted, submitter_);
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->spec.program.tensorboard, "logs/tb");
    EXPECT_EQ(model::parse_run_spec(to_json(report->spec))->program.tensorboard, "logs/tb");

    wanted.tensorboard = "other";
    EXPECT_EQ(resolve_run(wanted, submitter_)->spec.program.tensorboard, "other");
    wanted.tensorboard = "../other";
    const auto refused = resolve_run(wanted, submitter_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::invalid_argument);
}

TEST_F(Plans, AProjectIsItsIdElseItsPath)
{
    const auto by_path = identify_project(project_);
    write(".azureml/project.json",
          R"({"Id": "1234-abcd", "Scope": "/subscriptions/x/projects/Iris"})");
    const auto by_id = identify_project(project_);

    ASSERT_TRUE(by_path && by_id);
    EXPECT_EQ(by_path->id.size(), 32U);
    EXPECT_EQ(by_id->id, "1234-abcd");
    EXPECT_EQ(by_id->name, "Iris");
}

TEST_F(Plans, DevicesChosenInTheShellAreNamesAndNeverANumberOfThem)
{
    const auto request_with = [&](const std::string& value) {
        auto shell = submitter_;
        shell.environment.push_back("CUDA_VISIBLE_DEVICES=" + value);
        return resolve_run(request(), shell).value().spec.resources.gpu.selection;
    };

    EXPECT_EQ(request_with("0"), "0,");
    EXPECT_EQ(request_with("3"), "3,");
    EXPECT_EQ(request_with("0,1"), "0,1");
    EXPECT_EQ(request_with("GPU-a"), "GPU-a");
    EXPECT_EQ(request_with("-1"), "");
}

}  // namespace
}  // namespace ponk::engine
