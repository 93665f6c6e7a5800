// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan.hpp"

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

    Submission submission(std::optional<std::string> script = "train.py")
    {
        Submission submission;
        submission.id = RunId::make();
        submission.project = project_;
        submission.script = std::move(script);
        submission.launch_context.environment = {"HOME=/home/ann", "PATH=/usr/bin"};
        return submission;
    }

    Path project_;
};

TEST_F(Plans, AFolderWithNothingButAScriptRunsLocallyInPython)
{
    auto wanted = submission();
    wanted.arguments = {"--epochs", "3", "-c", "x y"};

    const auto report = make_plan(wanted);

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->plan.target_type, "local");
    EXPECT_EQ(report->plan.framework, "Python");
    EXPECT_EQ(report->plan.interpreter, "");
    EXPECT_EQ(report->plan.arguments, wanted.arguments);
    EXPECT_EQ(report->plan.shared_directory, "/home/ann/.azureml/share/" + report->project_id);
}

// It names the folder that runs share, which containers get whole.
TEST_F(Plans, AnIdThatIsNotAPlainNameDoesNotCount)
{
    const auto plain = make_plan(submission())->project_id;
    for (const char* id : {"/", "/etc", "..", "../..", "a/b", ".hidden", "", "a b", "x\\ny"}) {
        write(".azureml/project.json",
              fmt::format(R"({{"Id": "{}", "Scope": "/projects/x"}})", id));
        const auto report = make_plan(submission());
        ASSERT_TRUE(report) << id;
        EXPECT_EQ(report->project_id, plain) << id;
        EXPECT_EQ(report->plan.shared_directory, "/home/ann/.azureml/share/" + plain) << id;
    }
    write(".azureml/project.json", R"({"Id": "0f4c-11_e8.A", "Scope": "/projects/x"})");
    EXPECT_EQ(make_plan(submission())->project_id, "0f4c-11_e8.A");
}

TEST_F(Plans, AMissingScriptGetsTheNearestName)
{
    const auto report = make_plan(submission("trian.py"));

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind(), ErrorKind::not_found);
    EXPECT_EQ(report.error().hint(), "Did you mean 'train.py'?");
}

TEST_F(Plans, AScriptOutsideTheProjectIsRefused)
{
    for (const char* script : {"../train.py", "/etc/passwd", "a/../../train.py", ""}) {
        const auto report = make_plan(submission(script));
        ASSERT_FALSE(report) << script;
    }
}

TEST_F(Plans, AnIgnoredScriptIsToldBeforeAnythingStarts)
{
    write(".amlignore", "train.py\n");

    const auto report = make_plan(submission());

    ASSERT_FALSE(report);
    EXPECT_NE(report.error().message().find("'.amlignore'"), std::string::npos);
}

TEST_F(Plans, ArgumentVectorServesWhenNoScriptIsNamed)
{
    write("aml_config/local.runconfig",
          "ArgumentVector:\n  - train.py\n  - --epochs\n  - 5\nTarget: local\nFramework: Python\n"
          "EnvironmentVariables:\n  A: '1'\n  KEY: secret:STORE\n");
    write("aml_config/local.compute", "type: local\npythonLocation: ~/env/bin/python\n");
    write("env/bin/python", "#!/bin/sh\n");
    std::filesystem::permissions(project_ / "env/bin/python", std::filesystem::perms::owner_all);
    auto wanted = submission(std::nullopt);
    wanted.variables = {{"A", "2"}};
    wanted.launch_context.environment[0] = "HOME=" + project_.native();

    const auto report = make_plan(wanted);

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->plan.script, "train.py");
    EXPECT_EQ(report->plan.arguments, (std::vector<std::string>{"--epochs", "5"}));
    EXPECT_EQ(report->plan.interpreter, project_.native() + "/env/bin/python");
    EXPECT_EQ(secret_names(report->plan), std::vector<std::string>{"STORE"});
    const Variables expected{{"KEY", "secret:STORE"}, {"A", "2"}};
    EXPECT_EQ(report->plan.variables, expected);
}

TEST_F(Plans, AnInterpreterThatIsNotThereIsToldWithItsPlace)
{
    write("aml_config/local.compute", "type: local\npythonLocation: ~/env/bin/python\n");

    const auto report = make_plan(submission());

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().message(),
              "aml_config/local.compute:2:17: python '~/env/bin/python' does not exist");
}

TEST_F(Plans, ANamedFileThatTheRunDoesNotUseGetsANotice)
{
    auto wanted = submission();
    wanted.conda_dependencies = "more.yml";
    EXPECT_EQ(make_plan(wanted).error().message(), "conda file 'more.yml' does not exist");
    write("more.yml", "dependencies: []\n");

    const auto report = make_plan(wanted);

    ASSERT_TRUE(report) << report.error().message();
    ASSERT_EQ(report->notices.size(), 1U);
    EXPECT_TRUE(report->notices[0].starts_with("conda file 'more.yml' is not used"));
}

TEST_F(Plans, PackagesThatNobodyInstallsAreToldOnce)
{
    write("aml_config/conda_dependencies.yml", "dependencies:\n- python=3.6\n- pip\n");
    EXPECT_TRUE(make_plan(submission())->notices.empty()) << "it asks for nothing but Python";
    write("aml_config/conda_dependencies.yml",
          "dependencies:\n- python=3.6\n- pip:\n  - tensorflow==1.4\n");
    write("aml_config/host.compute", "type: remote\naddress: gpu1\nusername: ann\n");
    write("aml_config/host.runconfig", "Target: host\nFramework: Python\n");
    const auto here = make_plan(submission());
    ASSERT_TRUE(here) << here.error().message();
    ASSERT_EQ(here->notices.size(), 1U);
    EXPECT_TRUE(here->notices[0].starts_with(
        "conda file 'aml_config/conda_dependencies.yml' is not used: on target 'local'"));
    EXPECT_NE(here->notices[0].find("ManagedEnvironment: true"), std::string::npos);

    auto wanted = submission();
    wanted.run_configuration = "host";
    const auto there = make_plan(wanted);
    ASSERT_TRUE(there) << there.error().message();
    ASSERT_EQ(there->notices.size(), 1U);
    EXPECT_NE(
        there->notices[0].find("'userManagedEnvironment: false' in 'aml_config/host.compute'"),
        std::string::npos)
        << there->notices[0];
    write("aml_config/host.compute",
          "type: remote\naddress: gpu1\nusername: ann\nuserManagedEnvironment: false\n");
    const auto managed = make_plan(wanted);
    ASSERT_TRUE(managed) << managed.error().message();
    for (const auto& notice : managed->notices)
        EXPECT_EQ(notice.find("is not used"), std::string::npos) << notice;
}

TEST_F(Plans, NoScriptAtAllSaysHowToNameOne)
{
    const auto report = make_plan(submission(std::nullopt));

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().message(), "no script given");
}

TEST_F(Plans, SparkDependenciesBecomeOptions)
{
    write("aml_config/local.runconfig", "Target: local\nFramework: PySpark\n");
    write("aml_config/spark_dependencies.yml",
          "configuration:\n  spark.app.name: demo\nrepositories:\n  - https://example.org/maven\n"
          "packages:\n  - group: g\n    artifact: a\n    version: 1.0\n");

    const auto report = make_plan(submission());

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->plan.spark_options,
              (std::vector<std::string>{"--conf",
                                        "spark.app.name=demo",
                                        "--packages",
                                        "g:a:1.0",
                                        "--repositories",
                                        "https://example.org/maven"}));
}

TEST_F(Plans, EntryPointsOfAnMlprojectFillInTheirParameters)
{
    write("MLproject",
          "name: demo\nentry_points:\n  main:\n    parameters:\n      alpha: {type: float, "
          "default: 0.5}\n"
          "      data: path\n    command: \"python train.py {alpha} {data}\"\n");
    auto wanted = submission(std::nullopt);
    wanted.arguments = {"-P", "data=it's here"};

    const auto report = make_plan(wanted);

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->plan.command.at(2), "python train.py 0.5 'it'\\''s here'");
    EXPECT_FALSE(make_plan(submission(std::nullopt)));  // "data" has no value
}

TEST_F(Plans, AnotherMachineIsNamedAndItsPathsAreLeftToIt)
{
    write("aml_config/host.compute",
          "type: remotedocker\naddress: gpu1:5022\nusername: ann\nbaseDockerImage: base:1\n"
          "nativeSharedDirectory: ~/share/\npythonLocation: ~/env/bin/python\nscratch: /data\n"
          "privateKey: ~/.ssh/host\n");
    write("aml_config/host.runconfig", "Target: host\nFramework: Python\n");
    auto wanted = submission();
    wanted.run_configuration = "host";

    const auto report = make_plan(wanted);

    ASSERT_TRUE(report) << report.error().message();
    const auto& plan = report->plan;
    ASSERT_TRUE(plan.host);
    EXPECT_EQ(plan.host->address, "gpu1");
    EXPECT_EQ(plan.host->port, 5022);
    EXPECT_EQ(plan.host->user, "ann");
    EXPECT_EQ(plan.host->scratch, "/data");
    EXPECT_EQ(plan.host->private_key, "/home/ann/.ssh/host") << "a key is on this machine";
    EXPECT_EQ(plan.interpreter, "~/env/bin/python");
    EXPECT_TRUE(plan.shared_directory.starts_with("~/share/"));
}

TEST_F(Plans, AStoredPlanReadsBackTheSame)
{
    Plan plan;
    plan.host = HostPlan{.address = "gpu1", .port = 5022, .user = "ann", .scratch = "/data"};
    plan.script = "a\nb\xff.py";
    plan.arguments = {"", "x", "\x01"};
    plan.variables = {{"K", "secret:N"}, {"L", "v"}};
    plan.time_limit_seconds = 7;
    plan.tracked = false;

    const auto back = plan_from_json(*parse_json(to_json(to_json(plan))));

    ASSERT_TRUE(back);
    EXPECT_EQ(to_json(*back), to_json(plan));
    EXPECT_EQ(back->script, plan.script);
}

TEST_F(Plans, FolderOfEventFilesIsTheSubmissionsElseTheConfigurations)
{
    write("aml_config/board.runconfig", "Target: local\nFramework: Python\ntensorboard: logs/tb\n");
    auto wanted = submission();
    wanted.run_configuration = "board";

    const auto report = make_plan(wanted);
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->plan.tensorboard, "logs/tb");
    EXPECT_EQ(plan_from_json(to_json(report->plan))->tensorboard, "logs/tb");

    wanted.tensorboard = "other";
    EXPECT_EQ(make_plan(wanted)->plan.tensorboard, "other");
    wanted.tensorboard = "../other";
    const auto refused = make_plan(wanted);
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
        auto wanted = submission();
        wanted.launch_context.environment.push_back("CUDA_VISIBLE_DEVICES=" + value);
        return make_plan(wanted).value().plan.gpu.selection;
    };

    EXPECT_EQ(request_with("0"), "0,");
    EXPECT_EQ(request_with("3"), "3,");
    EXPECT_EQ(request_with("0,1"), "0,1");
    EXPECT_EQ(request_with("GPU-a"), "GPU-a");
    EXPECT_EQ(request_with("-1"), "");
}

}  // namespace
}  // namespace ponk::engine
