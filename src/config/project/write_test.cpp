// SPDX-License-Identifier: Apache-2.0
#include "config/project/project.hpp"
#include "config/project/write.hpp"
#include "config/text/reading_test_support.hpp"

#include <filesystem>

namespace ponk::config {
namespace {

TEST(Write, LeavesFilesThatReadBackTheSame)
{
    const TemporaryFolder folder;
    ComputeTarget target;
    target.name = "my_dsvm";
    target.type = TargetType::remotedocker;
    target.address = std::string("gpubox.example.org");
    target.port = 2222;
    target.username = std::string("alice");
    target.password = std::string("secret:host");
    target.base_docker_image = std::string("me/cuda:12.10");
    target.nvidia_docker = true;
    ASSERT_TRUE(write_compute_file(folder.path(), target));
    auto run = new_run_configuration("my_dsvm", "my_dsvm");
    run.script = std::string("train.py");
    for (const char* word : {"--name", "it's \"x\"", "5", "true", "null", "", "#a", "a: b", "\n"}) {
        run.arguments.push_back(std::string(word));
    }
    run.environment_variables.push_back({"N", "010", {}});
    ASSERT_TRUE(write_runconfig_file(folder.path(), run));

    const auto project = open_project(folder.path());
    const auto resolved = resolve(*project, "my_dsvm");
    ASSERT_TRUE(resolved) << resolved.error().message();
    EXPECT_TRUE(resolved->diagnostics.empty()) << remarks_of(resolved->diagnostics);
    EXPECT_EQ(to_json(meaning_of(resolved->target)), to_json(meaning_of(target)));
    EXPECT_EQ(to_json(meaning_of(resolved->run)), to_json(meaning_of(run)));
}

TEST(Write, LeavesAFolderOutsideOfTheProjectAlone)
{
    const TemporaryFolder outside;
    const TemporaryFolder folder;
    std::filesystem::create_directory_symlink(outside.path(), folder.path() / "aml_config");
    auto target = built_in_local();
    target.name = "mine";

    for (const auto& written :
         {write_compute_file(folder.path(), target),
          write_runconfig_file(folder.path(), new_run_configuration("mine", "mine"))}) {
        ASSERT_FALSE(written);
        EXPECT_NE(written.error().message().find("outside the project"), std::string::npos);
        EXPECT_FALSE(written.error().hint().empty());
    }
    EXPECT_TRUE(std::filesystem::is_empty(outside.path()));

    std::filesystem::remove(folder.path() / "aml_config");
    std::filesystem::create_directory(folder.path() / "settings");
    std::filesystem::create_directory_symlink("settings", folder.path() / "aml_config");
    EXPECT_TRUE(write_compute_file(folder.path(), target)) << "a link inside is the project's own";
}

TEST(Write, HasTheDefaultsOfThePage)
{
    const TemporaryFolder folder;
    ComputeTarget local = built_in_local();
    local.name = "here";
    const auto compute = write_compute_file(folder.path(), local);
    ASSERT_TRUE(compute);
    EXPECT_EQ(os::read_file(*compute).value(),
              "type: local\npythonLocation: python\n"
              "nativeSharedDirectory: \"~/.azureml/share/\"\n");
    const auto run = write_runconfig_file(folder.path(), new_run_configuration("here", "here"));
    ASSERT_TRUE(run);
    EXPECT_EQ(os::read_file(*run).value(),
              "ArgumentVector:\n- $file\nTarget: here\nFramework: Python\n"
              "CondaDependenciesFile: aml_config/conda_dependencies.yml\n"
              "SparkDependenciesFile: aml_config/spark_dependencies.yml\n"
              "PrepareEnvironment: true\nTrackedRun: true\n");
}

TEST(Write, NeverOverwrites)
{
    const TemporaryFolder folder;
    folder.write("aml_config/here.compute", "mine");
    ComputeTarget local = built_in_local();
    local.name = "here";
    const auto again = write_compute_file(folder.path(), local);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind(), ErrorKind::conflict);
    EXPECT_EQ(os::read_file(folder.path() / "aml_config/here.compute").value(), "mine");
}

TEST(Write, RefusesNamesThatAreNoFileNames)
{
    for (const char* name : {"", "..", "a/b", "-x", ".hidden", "a b", "a\n", "x."}) {
        EXPECT_FALSE(check_name("target", name)) << name;
    }
    for (const char* name : {"docker", "my_dsvm1", "DSVM-Ubuntu-GPU", "v1.2"}) {
        EXPECT_TRUE(check_name("target", name)) << name;
    }
}

}  // namespace
}  // namespace ponk::config
