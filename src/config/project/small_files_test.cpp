// SPDX-License-Identifier: Apache-2.0
#include "config/files/spark.hpp"
#include "config/project/check.hpp"
#include "config/project/config_file.hpp"
#include "config/project/project.hpp"
#include "config/text/reading_test_support.hpp"

namespace ponk::config {
namespace {

TEST(Spark, ReadsPropertiesAndPackages)
{
    Report report("f");
    const auto spark = read_spark(tree_of("version: 2\nconfiguration:\n  \"spark.a\":\t\"4g\"\n"
                                          "  spark.b: 1\nrepositories:\n  - https://example.org\n"
                                          "packages:\n  - group: g\n    artifact: a_2.12\n"
                                          "    version: 0.10\n"),
                                  report);
    EXPECT_EQ(remarks_of(report.take()), "");
    ASSERT_EQ(spark.configuration.size(), 2U);
    EXPECT_EQ(spark.configuration[1].value, "1");
    EXPECT_EQ(spark.packages.at(0).coordinate(), "g:a_2.12:0.10");
}

TEST(Spark, RemarksOnWhatIsWrong)
{
    const std::pair<const char*, const char*> cases[] = {
        {"configuration: {}\nrepositories: []\npackages:\n", ""},
        {"packages:\n- group: g\n  artifact: a\n", "2:3 error missing-key"},
        {"packages: [a:b:c]\n", "1:12 error wrong-type"},
        {"repositories: https://x\n", "1:15 error wrong-type"},
        {"package: []\n", "1:1 error unknown-key"},
        {"repositories: [\"https://mmlspark.azureedge.net/maven\"]\n", "1:16 notice url-gone"},
    };
    for (const auto& [text, expected] : cases) {
        Report report("f");
        (void)read_spark(tree_of(text), report);
        EXPECT_EQ(remarks_of(report.take()), expected) << text;
    }
}

TEST(ProjectIdentity, KnowsIdAndName)
{
    Report report("f");
    const auto identity =
        read_project_identity(tree_of(R"({"Id": null, "Scope": "/a/workspaces/w"})"), report);
    EXPECT_EQ(*identity.id, "");
    EXPECT_EQ(identity.name, "w");
    EXPECT_EQ(remarks_of(report.take()), "");
    (void)read_project_identity(tree_of(R"({"id": "x"})"), report);
    EXPECT_EQ(remarks_of(report.take()), "1:2 error wrong-case");
}

TEST(ConfigFile, IsKnownByItsName)
{
    const std::pair<const char*, FileKind> cases[] = {
        {"aml_config/docker.compute", FileKind::compute},
        {"x.runconfig", FileKind::runconfig},
        {"conda_dependencies - Copy.yml", FileKind::conda},
        {"myvm_conda_dependencies.yml", FileKind::conda},
        {"conda_dependencies.yml~", FileKind::conda},
        {"hdi_spark_dependencies.yml", FileKind::spark},
        {"base_dependencies.yml", FileKind::base_dependencies},
        {".amlignore", FileKind::ignore},
        {"a/.gitignore", FileKind::ignore},
        {".azureml/project.json", FileKind::project},
        {"MLproject", FileKind::mlproject},
        {"config.json", FileKind::json},
        {"train.py", FileKind::unknown},
    };
    for (const auto& [name, kind] : cases)
        EXPECT_EQ(kind_by_name(name), kind) << name;
}

TEST(ConfigFile, DumpsValuesAndMeaning)
{
    const TemporaryFolder folder;
    folder.write("gpu.compute", "type: docker\nbaseDockerImage: me/gpu:1.10\nnvidiaDocker: True\n");
    const auto compute = dump_file(folder.path() / "gpu.compute");
    ASSERT_TRUE(compute.document);
    EXPECT_EQ(to_json((*compute.document)["values"]),
              R"({"type":"docker","baseDockerImage":"me/gpu:1.10","nvidiaDocker":true})");
    EXPECT_EQ((*compute.document)["meaning"].text("type"), "localdocker");
    EXPECT_EQ((*compute.document)["meaning"].text("name"), "gpu");
    EXPECT_TRUE((*compute.document)["meaning"].boolean("sharedVolumes"));

    folder.write("s.runconfig",
                 "ArgumentVector: [train.py, 5]\nTarget: 7\nPrepareEnvironment: no\nNew: 1.50\n");
    const auto run = dump_file(folder.path() / "s.runconfig");
    ASSERT_TRUE(run.document);
    EXPECT_EQ(run.document->text("schema"), "2017");
    EXPECT_EQ(
        to_json((*run.document)["values"]),
        R"({"ArgumentVector":["train.py","5"],"Target":"7","PrepareEnvironment":false,"New":1.5})");
    EXPECT_EQ(to_json((*run.document)["meaning"]["arguments"]), R"(["5"])");
    EXPECT_EQ((*run.document)["meaning"].text("framework"), "PySpark");

    folder.write(
        "spark_dependencies.yml",
        "configuration: {spark.x: 1}\npackages: [{group: g, artifact: a, version: 0.10}]\n");
    const auto spark = dump_file(folder.path() / "spark_dependencies.yml");
    ASSERT_TRUE(spark.document);
    EXPECT_EQ(
        to_json((*spark.document)["values"]),
        R"({"configuration":{"spark.x":"1"},"packages":[{"group":"g","artifact":"a","version":"0.10"}]})");

    folder.write(".amlignore", "# c\r\ndata \r\n!data/keep\r\n");
    const auto ignore = dump_file(folder.path() / ".amlignore");
    EXPECT_EQ(to_json(*ignore.document),
              R"({"kind":"ignore","schema":"gitignore","values":["data","!data/keep"],)"
              R"("meaning":{"rules":[{"pattern":"data","ignored":true},)"
              R"({"pattern":"data/keep","ignored":false}]}})");
}

TEST(ConfigFile, IsDumpedOnlyWithoutErrors)
{
    const TemporaryFolder folder;
    folder.write("a.compute", "type: docker\nnvidiaDocker: \"yes\"\n");
    folder.write("b.txt", "hello\n");
    const auto wrong = dump_file(folder.path(), "a.compute");
    EXPECT_FALSE(wrong.document);
    EXPECT_EQ(to_json(to_json(wrong.diagnostics)),
              R"([{"file":"a.compute","line":2,"column":15,"severity":"error","code":"wrong-type",)"
              R"("message":"'nvidiaDocker' needs true or false, not 'yes' in quotes",)"
              R"("hint":"Write true, without quotes."}])");
    EXPECT_EQ(remarks_of(dump_file(folder.path() / "b.txt").diagnostics), "0:0 error unknown-file");
    EXPECT_EQ(
        remarks_of(check_files({folder.path() / "none.compute", folder.path() / "a.compute"})),
        "2:15 error wrong-type\n0:0 error unreadable");
}

}  // namespace
}  // namespace ponk::config
