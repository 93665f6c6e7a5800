// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/resolve_run_test_support.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace ponk::engine {
namespace {

class EntryPoints : public testing::Test {
protected:
    EntryPoints() : project_(*os::make_temporary_directory(testing::TempDir(), "ponk-entry-")) {}
    ~EntryPoints() override { static_cast<void>(os::remove_tree(project_)); }

    void write(const std::string& name, const std::string& text)
    {
        std::filesystem::create_directories((project_ / name).parent_path());
        static_cast<void>(os::replace_file(project_ / name, text));
    }

    Result<ResolvedRun> resolve(Variables parameters = {}, const std::string& entry = "main")
    {
        RunRequest request;
        request.id = RunId::make();
        request.project = project_;
        request.entry_point = entry;
        request.parameters = std::move(parameters);
        return resolve_run(request, submitter_);
    }

    std::string command(Variables parameters = {}, const std::string& entry = "main")
    {
        const auto run = resolve(std::move(parameters), entry);
        return run ? run->spec.program.command.at(2) : "! " + run.error().message();
    }

    Path project_;
    Submitter submitter_{.environment = {"HOME=/home/ann", "PATH=/usr/bin:/bin", "TOKEN=t"}};
};

TEST_F(EntryPoints, FillInTheirParametersOnceAndQuoted)
{
    write("MLproject",
          "entry_points:\n  main:\n    parameters:\n      alpha: {type: float, default: 0.5}\n"
          "      text: string\n    command: \"python train.py {alpha} {text} {{x}}\"\n");

    EXPECT_EQ(command({{"text", "it's {alpha}"}}), "python train.py 0.5 'it'\\''s {alpha}' {x}");
    EXPECT_EQ(command({{"text", "a"}, {"alpha", "1e-3"}, {"new one", "b c"}}),
              "python train.py 1e-3 a {x} '--new one' 'b c'");
    const auto run = resolve({{"text", "a"}, {"more", "1"}});
    ASSERT_TRUE(run);
    EXPECT_EQ(run->parameters, (Variables{{"alpha", "0.5"}, {"text", "a"}, {"more", "1"}}));
    EXPECT_EQ(run->spec.program.script, "main");
    EXPECT_EQ(run->spec.program.arguments,
              (std::vector<std::string>{"-P", "text=a", "-P", "more=1"}));
}

TEST_F(EntryPoints, ADefaultCannotLeadOutOfTheProject)
{
    write("MLproject",
          "entry_points:\n  main:\n    parameters:\n      d: {type: path, default: data}\n"
          "    command: \"cat {d}\"\n");
    write(".amlignore", "data\n");
    const auto other = *os::make_temporary_directory(testing::TempDir(), "ponk-other-");
    std::filesystem::create_directory_symlink(other, project_ / "data");

    EXPECT_THAT(command(), testing::HasSubstr("leads out of the project, to '" + other.native()));
    // Who names it has said so.
    EXPECT_EQ(command({{"d", "data"}}), "cat data");
    static_cast<void>(os::remove_tree(other));
}

TEST_F(EntryPoints, WhatCannotBeDoneIsRefusedWithItsPlace)
{
    write("MLproject",
          "entry_points:\n  main:\n    parameters:\n      alpha: float\n"
          "      data: {type: path, default: .}\n      where: {type: uri, default: 's3://a/b'}\n"
          "    command: \"run {alpha} {data} {where}\"\n"
          "  odd: {command: \"run {missing}\"}\n");

    EXPECT_EQ(command({{"alpha", "1"}}), "run 1 . s3://a/b");
    EXPECT_EQ(command(), "! MLproject:4:7: parameter 'alpha' of entry point 'main' has no value");
    EXPECT_EQ(command({{"alpha", "x"}}),
              "! MLproject:4:7: parameter 'alpha' is a number, and 'x' is none");
    EXPECT_EQ(command({{"alpha", "1"}, {"where", "a/b"}}),
              "! MLproject:6:7: parameter 'where' is a URI, and 'a/b' is none");
    EXPECT_EQ(command({{"alpha", "1"}, {"data", "s3://a"}}),
              "! MLproject:5:7: parameter 'data' is a path; ponk does not download 's3://a'");
    EXPECT_EQ(command({{"alpha", "1"}, {"data", "none"}}),
              "! MLproject:5:7: parameter 'data' names 'none', which does not exist");
    EXPECT_EQ(command({}, "odd"),
              "! MLproject:8:18: the command of 'odd' uses '{missing}', which has no value");
    EXPECT_EQ(command({{"missing", "1"}}, "odd"), "run 1");
    EXPECT_EQ(command({}, "man"), "! 'man' is neither a script nor an entry point of MLproject");
}

TEST_F(EntryPoints, APathThatDoesNotTravelIsAnInput)
{
    write(".gitignore", "data/\n");
    write("data/a.csv", "1\n");
    write("kept.csv", "1\n");
    write("MLproject",
          "entry_points:\n  main: {command: \"run {data}\", parameters: {data: path}}\n");

    const auto run = resolve({{"data", "data/a.csv"}});
    ASSERT_TRUE(run) << run.error().message();
    ASSERT_EQ(run->spec.inputs.size(), 1U);
    EXPECT_EQ(run->spec.inputs[0].path, "data/a.csv");
    EXPECT_EQ(run->notices.size(), 1U);
    const auto travels = resolve({{"data", (project_ / "kept.csv").native()}});
    ASSERT_TRUE(travels) << travels.error().message();
    EXPECT_EQ(travels->spec.program.command.at(2), "run kept.csv");
    EXPECT_TRUE(travels->spec.inputs.empty());
}

TEST_F(EntryPoints, AScriptIsOneAsMlflowTakesIt)
{
    write("train.py", "print(1)\n");
    write("my {x}.sh", "true\n");
    const auto plain = resolve({{"alpha", "1"}}, "train.py");
    ASSERT_TRUE(plain) << plain.error().message();
    EXPECT_EQ(plain->spec.program.arguments, (std::vector<std::string>{"--alpha", "1"}));
    EXPECT_TRUE(plain->spec.program.command.empty());
    EXPECT_FALSE(resolve({}, "main")) << "there is no MLproject";

    write("mlproject", "name: x\n");
    EXPECT_EQ(command({{"alpha", "1"}}, "train.py"), "python train.py --alpha 1");
    EXPECT_EQ(command({}, "my {x}.sh"), "bash 'my {x}.sh'");
}

TEST_F(EntryPoints, TheirContainerIsThatOfTheProject)
{
    write("MLproject",
          "docker_env:\n  image: img\n  volumes: [\"/data:/data:ro\"]\n"
          "  environment: [[MODE, fast], TOKEN]\n"
          "entry_points:\n  main: {command: \"run {data}\", parameters: {data: path}}\n");

    const auto run = resolve({{"data", "/data/x"}});

    ASSERT_TRUE(run) << run.error().message();
    EXPECT_EQ(target_type(run->spec), "localdocker");
    ASSERT_TRUE(run->spec.runtime.container);
    EXPECT_EQ(run->spec.runtime.container->image, "img");
    EXPECT_EQ(run->spec.runtime.container->arguments,
              std::vector<std::string>{"--volume=/data:/data:ro"});
    EXPECT_EQ(run->spec.program.command.front(), "/bin/sh");
    EXPECT_EQ(run->spec.program.variables, (Variables{{"MODE", "fast"}}));
    EXPECT_EQ(run->spec.program.shell_variables, std::vector<std::string>{"TOKEN"});
    EXPECT_TRUE(run->spec.environment.file.empty());
    ASSERT_EQ(run->requests.size(), 1U);
    EXPECT_EQ(run->requests[0].where, "MLproject:3");
    EXPECT_TRUE(command({{"data", "/other/x"}}).starts_with("! MLproject:6:"));

    submitter_.environment.pop_back();
    EXPECT_EQ(command({{"data", "/data/x"}}),
              "! MLproject:4:31: 'environment' needs the variable 'TOKEN' of your shell, which is "
              "not set");
}

TEST_F(EntryPoints, OnAMachineWithoutContainersTheContainerIsRefused)
{
    write("MLproject", "docker_env: {image: img}\nentry_points:\n  main: {command: run}\n");
    write("aml_config/host.compute", "type: remote\naddress: gpu1\nusername: ann\n");
    write("aml_config/host.runconfig", "Target: host\nFramework: Python\n");
    RunRequest request;
    request.id = RunId::make();
    request.project = project_;
    request.run_configuration = "host";

    const auto run = resolve_run(request, submitter_);

    ASSERT_FALSE(run);
    EXPECT_EQ(
        run.error().message(),
        "MLproject:1:21: the project runs in the container 'img', and target 'host' has none");
}

TEST_F(EntryPoints, TheirPackagesAreThoseOfTheProjectsFile)
{
    write("env/p.yaml", "python: \"3.11\"\ndependencies: [six]\n");
    write("MLproject", "python_env: env/p.yaml\nentry_points:\n  main: {command: run}\n");

    const auto named = resolve();
    ASSERT_TRUE(named) << named.error().message();
    EXPECT_EQ(named->spec.environment.file, "env/p.yaml");
    EXPECT_EQ(named->spec.environment.choice, "MLproject names env/p.yaml");

    write("MLproject", "conda_env: conda.yml\nentry_points:\n  main: {command: run}\n");
    EXPECT_EQ(command(), "! MLproject:1:12: conda_env: conda file 'conda.yml' does not exist");

    write("MLproject", "entry_points:\n  main: {command: run}\n");
    write("conda.yaml", "dependencies: [python=3.11]\n");
    EXPECT_EQ(resolve()->spec.environment.file, "conda.yaml") << "the name that MLflow looks for";
}

}  // namespace
}  // namespace ponk::engine
