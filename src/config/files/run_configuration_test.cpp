// SPDX-License-Identifier: Apache-2.0
#include "config/files/run_configuration.hpp"
#include "config/text/reading_test_support.hpp"

#include <gmock/gmock.h>

namespace ponk::config {
namespace {

std::string remarks(std::string_view text)
{
    Report report("f");
    (void)read_run_configuration(tree_of(text), "r", report);
    return remarks_of(report.take());
}

RunConfiguration run(std::string_view text)
{
    Report report("f");
    return read_run_configuration(tree_of(text), "r", report);
}

constexpr const char* nested = R"(script: train.py
arguments: [--lr, 1e-3]
target: local
framework: PySpark
communicator: None
autoPrepareEnvironment: false
maxRunDurationSeconds: 60
nodeCount: 2
environment:
  environmentVariables:
    A: 1
  python:
    userManagedDependencies: true
    interpreterPath: /opt/python
    condaDependenciesFile: aml_config/other.yml
  docker:
    enabled: true
    baseImage: mine/gpu:1
    gpuSupport: true
    sharedVolumes: false
    shmSize: 1g
    arguments: [--ipc=host]
    baseImageRegistry:
      address:
      username:
      password:
  spark:
    repositories: [https://repo.example.org]
    packages:
    - group: g
      artifact: a
      version: 0.10
history:
  outputCollection: false
  snapshotProject: true
spark:
  configuration:
    spark.app.name: x
mpi:
  processCountPerNode: 4
hdi:
  yarnDeployMode: client
)";

TEST(RunConfiguration, ReadsTheFlatSchema)
{
    const auto r = run("ArgumentVector:\n  - train.py\n  - \"--epochs\"\n  - 5\n  - 1e-3\n"
                       "Target: gpubox\nFramework: Python\nCondaDependenciesFile: Config/c.yml\n"
                       "PrepareEnvironment: false\nTrackedRun: true\n"
                       "EnvironmentVariables:\n  DATA_SET: small\n  N: 010\n  EMPTY:\n");
    EXPECT_EQ(r.schema, RunSchema::flat_2017);
    EXPECT_EQ(*r.script, "train.py");
    ASSERT_EQ(r.arguments.size(), 3U);
    EXPECT_EQ(*r.arguments[1], "5");
    EXPECT_EQ(*r.arguments[2], "1e-3");
    EXPECT_EQ(*r.target, "gpubox");
    EXPECT_EQ(*r.framework, Framework::python);
    EXPECT_EQ(*r.conda_dependencies_file, "Config/c.yml");
    EXPECT_EQ(*r.spark_dependencies_file, "aml_config/spark_dependencies.yml");
    EXPECT_FALSE(*r.prepare_environment);
    ASSERT_EQ(r.environment_variables.size(), 3U);
    EXPECT_EQ(r.environment_variables[1].value, "010");
    EXPECT_EQ(r.environment_variables[2].value, "");
}

TEST(RunConfiguration, ReadsTheFlatSchemaAsJson)
{
    const auto r = run(R"({"ArgumentVector":["$file"],"CondaFile":null,"ManagedEnvironment":true,
"TrackedRun":true,"Target":"docker","PrepareEnvironment":true,"Framework":"Python"})");
    EXPECT_EQ(*r.script, "");
    EXPECT_TRUE(r.arguments.empty());
    EXPECT_EQ(*r.target, "docker");
    EXPECT_EQ(*r.conda_dependencies_file, "aml_config/conda_dependencies.yml");
    EXPECT_FALSE(*r.user_managed_dependencies);
    EXPECT_FALSE(r.user_managed_dependencies.given());
    const auto asked =
        run("Target: local\nCondaFile:\nCondaDependenciesFile: c.yml\nManagedEnvironment: true\n");
    EXPECT_TRUE(asked.user_managed_dependencies.given());
}

TEST(RunConfiguration, ReadsTheNestedSchemaIntoTheSameStruct)
{
    const auto r = run(nested);
    EXPECT_EQ(r.schema, RunSchema::nested_2018);
    EXPECT_EQ(*r.script, "train.py");
    EXPECT_EQ(*r.arguments.at(1), "1e-3");
    EXPECT_EQ(*r.framework, Framework::pyspark);
    EXPECT_FALSE(*r.prepare_environment);
    EXPECT_FALSE(*r.tracked_run);
    EXPECT_TRUE(*r.snapshot_project);
    EXPECT_EQ(*r.max_run_duration_seconds, 60);
    EXPECT_EQ(*r.node_count, 2);
    EXPECT_EQ(*r.processes_per_node, 4);
    EXPECT_EQ(*r.communicator, "");
    EXPECT_EQ(*r.interpreter_path, "/opt/python");
    EXPECT_TRUE(*r.user_managed_dependencies);
    EXPECT_EQ(*r.conda_dependencies_file, "aml_config/other.yml");
    ASSERT_TRUE(r.docker);
    EXPECT_TRUE(*r.docker->enabled);
    EXPECT_EQ(*r.docker->base_image, "mine/gpu:1");
    EXPECT_FALSE(*r.docker->shared_volumes);
    ASSERT_TRUE(r.spark);
    EXPECT_EQ(r.spark->packages.at(0).coordinate(), "g:a:0.10");
    EXPECT_EQ(r.spark->configuration.at(0).value, "x");
    EXPECT_EQ(*r.yarn_deploy_mode, "client");
    EXPECT_EQ(remarks(nested), "8:12 notice unused-key\n40:24 notice unused-key");
}

// A key of the table that nothing reads says so at its place, in whatever section.
TEST(RunConfiguration, KeysWithoutEffectSaySo)
{
    const std::string flat = "Target: local\nFramework: Python\n";
    EXPECT_THAT(remarks(flat + "nodeCount: 2"), testing::EndsWith("notice unused-key"));
    const std::string late = "target: local\nscript: a\nframework: Python\n";
    for (const auto* line : {"nodeCount: 2",
                             "batchai: {nodeCount: 3}",
                             "mpi: {processCountPerNode: 2}",
                             "communicator: ParameterServer",
                             "tensorflow: {workerCount: 2}",
                             "history: {snapshotProject: false}",
                             "history: {directoriesToWatch: [logs, models]}",
                             "environment: {python: {condaDependencies: {dependencies: [numpy]}}}",
                             "environment: {docker: {baseDockerfile: Dockerfile}}",
                             "environment: {databricks: {pypiLibraries: [numpy]}}",
                             "containerInstance: {cpuCores: 8}",
                             "amlcompute: {vmSize: Standard_NC6}",
                             "dataReferences: {a: {dataStoreName: x}}",
                             "exposedPorts: [80]"})
        EXPECT_THAT(remarks(late + line), testing::EndsWith("notice unused-key")) << line;
}

// The templates wrote every key down.
TEST(RunConfiguration, KeysThatSayWhatHoldsAnywayAreNoNews)
{
    EXPECT_EQ(remarks("Target: local\nFramework: Python\nnodeCount: 1\n"), "");
    EXPECT_EQ(remarks("target: local\nscript: a\nframework: Python\ncommunicator: None\n"
                      "nodeCount: 1\nmpi: {processCountPerNode: 1}\n"
                      "tensorflow: {workerCount: 1, parameterServerCount: 1}\n"
                      "history: {outputCollection: true, snapshotProject: true,"
                      " directoriesToWatch: [logs]}\n"
                      "environment:\n  python: {condaDependencies: null}\n"
                      "  databricks: {mavenLibraries: [], pypiLibraries: []}\n"
                      "  spark: {precachePackages: true}\n"
                      "containerInstance: {region: null, cpuCores: 1, memoryGb: 4}\n"
                      "amlcompute: {vmSize: null, vmPriority: null, retainCluster: false,"
                      " name: null, clusterMaxNodeCount: 1}\n"
                      "dataReferences: {}\nsourceDirectoryDataStore: null\nexposedPorts: null\n"),
              "");
}

TEST(RunConfiguration, NamesTheFolderOfEventFilesInBothSchemas)
{
    EXPECT_EQ(*run("Target: local\ntensorboard: logs\\tb\n").tensorboard, "logs/tb");
    EXPECT_EQ(*run(std::string(nested) + "tensorboard: logs/tb\n").tensorboard, "logs/tb");
    EXPECT_EQ(*run(nested).tensorboard, "");
    EXPECT_EQ(meaning_of(run("Target: local\ntensorboard: a\n")).text("tensorboard"), "a");
}

TEST(RunConfiguration, TellsTheSchemasApart)
{
    const std::pair<const char*, RunSchema> cases[] = {
        {"Target: a\nTrackedRun: true", RunSchema::flat_2017},
        {"target: a\nenvironment: {}", RunSchema::nested_2018},
        {"target: a\nframework: Python", RunSchema::nested_2018},
        {"Target: a\nframework: Python", RunSchema::flat_2017},
        {"gpus: 1", RunSchema::flat_2017},
        {"", RunSchema::flat_2017},
    };
    for (const auto& [text, schema] : cases)
        EXPECT_EQ(schema_of(tree_of(text)), schema) << text;
}

TEST(RunConfiguration, MeansSparkWhenItDoesNotSay)
{
    EXPECT_EQ(*run("Target: local").framework, Framework::pyspark);
    EXPECT_EQ(*run("target: local\nscript: a.py").framework, Framework::pyspark);
    EXPECT_EQ(*built_in_run_configuration().framework, Framework::python);
    Report report("f");
    (void)read_run_configuration(tree_of("Target: local"), "r", report);
    ASSERT_EQ(report.diagnostics().size(), 1U);
    EXPECT_EQ(report.diagnostics()[0].code, "framework-missing");
    EXPECT_NE(report.diagnostics()[0].hint.find("'Framework: Python'"), std::string::npos);
}

TEST(RunConfiguration, RemarksOnWhatIsWrong)
{
    const std::pair<std::string, const char*> cases[] = {
        {"", ""},
        {"Target: docker", ""},
        {"framework: Python", "3:1 error wrong-case"},
        {"Frameworks: Python", "3:1 error unknown-key"},
        {"nvidiaDocker: true", "3:1 error misplaced-key"},
        {"PrepareEnvironment: \"true\"", "3:21 error wrong-type"},
        {"PrepareEnvironment: true. x", "3:21 error wrong-type"},
        {"ArgumentVector: train.py", "3:17 error wrong-type"},
        {"ArgumentVector: [a, [b]]", "3:21 error wrong-type"},
        {"EnvironmentVariables: null", ""},
        {"EnvironmentVariables: [A]", "3:23 error wrong-type"},
        {"EnvironmentVariables: {A: {B: c}}", "3:27 error wrong-type"},
        {"EnvironmentVariables: {STORAGE_KEY: abc}", "3:37 warning secret-in-file"},
        {"EnvironmentVariables: {KEYBOARD: abc}", ""},
        {"EnvironmentVariables: {ROLE: USER}", ""},
        {"EnvironmentVariables: {API_TOKEN: \"secret:NAME\"}", ""},
        {"EnvironmentVariables: {STORAGE_KEY: <your key>}", "3:37 warning placeholder"},
        {"EnvironmentVariables: {\"A=B\": c}", "3:24 error wrong-value"},
        {"CondaDependenciesFile: aml_config\\c.yml", "3:24 warning windows-path"},
        {"CondaDependenciesFile: ../c.yml", "3:24 warning outside-project"},
        {"DataSourceSubstitutions: {a.dsource: b.dsource}", ""},
        {"DataSourceSubstitutions: [a.dsource]", "3:26 error wrong-type"},
        {"DataSourceSettings: {a.dsource: {Sampling: {Sample: x}}}", "3:21 notice no-data-sources"},
        {"UseSampling: false", ""},
    };
    for (const auto& [line, expected] : cases) {
        const std::string target = line.starts_with("Target") ? "# none" : "Target: local";
        const std::string framework =
            line.starts_with("Framework:") || line.starts_with("framework") ? "# none"
                                                                            : "Framework: Python";
        if (framework == "# none") {
            EXPECT_NE(remarks(target + "\n" + framework + "\n" + line).find(expected),
                      std::string::npos)
                << line;
        } else {
            EXPECT_EQ(remarks(target + "\n" + framework + "\n" + line), expected) << line;
        }
    }
    EXPECT_EQ(remarks("Target: local\nFramework: python"), "2:12 warning wrong-case");
    EXPECT_EQ(remarks("Target: local\nFramework: Spark"), "2:12 error wrong-value");
    EXPECT_EQ(remarks("Framework: Python"), "1:1 warning missing-key");
    EXPECT_EQ(remarks("target: local\nscript: a\nframework: Python\nnodeCount: 0"),
              "4:12 error wrong-value\n4:12 notice unused-key");
    EXPECT_EQ(
        remarks("target: local\nframework: Python\nenvironment:\n  docker:\n    enabled: true\n"
                "    baseImage: mcr.microsoft.com/azureml/base:1\n    gpuSupport: true\n"),
        "6:16 warning gpu-flag-without-image");
}

}  // namespace
}  // namespace ponk::config
