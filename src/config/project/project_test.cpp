// SPDX-License-Identifier: Apache-2.0
#include "config/project/check.hpp"
#include "config/project/enclosing_project.hpp"
#include "config/project/project.hpp"
#include "config/text/reading_test_support.hpp"

namespace ponk::config {
namespace {

Result<ResolvedConfiguration>
resolve_in(const TemporaryFolder& folder, const std::string& name, const std::string& target = {})
{
    const auto project = open_project(folder.path());
    if (!project) return tl::unexpected(project.error());
    return resolve(*project, name, target);
}

// Remarks as "file:line:column code", one per line.
std::string checked(const TemporaryFolder& folder)
{
    const auto diagnostics = check_project(folder.path());
    if (!diagnostics) return diagnostics.error().message();
    std::string text;
    for (const auto& d : *diagnostics) {
        text += fmt::format(
            "{}{}:{}:{} {}", text.empty() ? "" : "\n", d.file, d.line, d.column, d.code);
    }
    return text;
}

TEST(EnclosingProject, IsNeverTheHomeFolderNorTheRoot)
{
    const TemporaryFolder folder;
    const auto below = folder.path() / "a" / "b";
    std::filesystem::create_directories(below);
    const auto found = [&](const os::Path& home, const os::Path& known) {
        return enclosing_project(below, home, [&](const os::Path& each) { return each == known; });
    };
    EXPECT_EQ(found("/nowhere", folder.path()), folder.path());
    EXPECT_EQ(found(folder.path(), folder.path()), below);
    EXPECT_EQ(found("/nowhere", "/"), below);
    EXPECT_EQ(found("/nowhere", below), below);
    // What is above the home folder is not looked at.
    EXPECT_EQ(found(folder.path() / "a", folder.path()), below);
}

TEST(Project, RunsLocallyWithoutAnyFile)
{
    const TemporaryFolder folder;
    const auto resolved = resolve_in(folder, "local");
    ASSERT_TRUE(resolved) << resolved.error().message();
    EXPECT_EQ(*resolved->run.framework, Framework::python);
    EXPECT_EQ(*resolved->target.type, TargetType::local);
    EXPECT_TRUE(resolved->diagnostics.empty());
    EXPECT_EQ(checked(folder), "");
    EXPECT_EQ(open_project(folder.path() / "nowhere").error().kind(), ErrorKind::not_found);
}

TEST(Project, ListsItsOwnConfigurationsOnly)
{
    const TemporaryFolder folder;
    folder.write("aml_config/docker.compute", "type: docker\n");
    folder.write("aml_config/docker-python.runconfig", "Target: docker\nFramework: Python\n");
    folder.write("aml_config/local.runconfig", "Target: local\nFramework: Python\n");
    folder.write("Code/aml_config/deep.compute", "type: docker\n");
    folder.write(".azureml/project.json", R"({"Id": "4711", "Scope": "/a/projects/iris"})");
    const auto project = open_project(folder.path());
    ASSERT_TRUE(project);
    EXPECT_EQ(project->targets, (std::vector<std::string>{"docker", "local"}));
    EXPECT_EQ(project->run_configurations, (std::vector<std::string>{"docker-python", "local"}));
    ASSERT_TRUE(project->identity);
    EXPECT_EQ(*project->identity->id, "4711");
    EXPECT_EQ(project->identity->name, "iris");
}

TEST(Project, ResolvesARunConfigurationToItsTarget)
{
    const TemporaryFolder folder;
    folder.write("aml_config/host.compute",
                 "type: remotedocker\naddress: h:2222\nusername: u\nbaseDockerImage: me/gpu\n"
                 "nvidiaDocker: true\n");
    folder.write("aml_config/host.runconfig", "Target: host\nFramework: Python\n");
    folder.write("aml_config/other.compute", "type: local\npythonLocation: /usr/bin/python3\n");
    const auto resolved = resolve_in(folder, "host");
    ASSERT_TRUE(resolved) << resolved.error().message();
    EXPECT_EQ(*resolved->target.port, 2222);
    EXPECT_TRUE(*resolved->target.nvidia_docker);
    EXPECT_EQ(resolved->target.file, "aml_config/host.compute");
    const auto other = resolve_in(folder, "host", "other");
    ASSERT_TRUE(other);
    EXPECT_EQ(*other->target.python_location, "/usr/bin/python3");
}

TEST(Project, NamesWhatIsMissing)
{
    const TemporaryFolder folder;
    folder.write("aml_config/docker.compute", "type: docker\n");
    folder.write("aml_config/docker.runconfig", "Framework: Python\nTarget: docker-python\n");
    folder.write("aml_config/host.compute",
                 "type: remotedocker\naddress: IP_ADDRESS\nusername: u\n");
    folder.write("aml_config/host.runconfig", "Framework: Python\nTarget: host\n");
    folder.write("aml_config/lonely.compute", "type: docker\n");

    const auto dangling = resolve_in(folder, "docker");
    ASSERT_FALSE(dangling);
    EXPECT_EQ(dangling.error().message(),
              "aml_config/docker.runconfig:2:9: the target 'docker-python' has no file "
              "'aml_config/docker-python.compute'");
    EXPECT_NE(dangling.error().hint().find("'docker'"), std::string::npos);

    const auto unreachable = resolve_in(folder, "host");
    ASSERT_FALSE(unreachable);
    EXPECT_EQ(unreachable.error().message(),
              "aml_config/host.compute:2:10: the target 'host' has no address yet");

    const auto only_target = resolve_in(folder, "lonely");
    ASSERT_FALSE(only_target);
    EXPECT_NE(only_target.error().hint().find("runconfiguration create -n lonely -t lonely"),
              std::string::npos);

    const auto typo = resolve_in(folder, "dokcer");
    ASSERT_FALSE(typo);
    EXPECT_EQ(typo.error().kind(), ErrorKind::not_found);
    EXPECT_NE(typo.error().hint().find("Did you mean 'docker'?"), std::string::npos);

    EXPECT_FALSE(resolve_in(folder, "docker", "nothing"));
    EXPECT_FALSE(resolve_in(folder, "../docker"));
}

TEST(Project, TurnsANestedDockerSectionIntoATarget)
{
    const TemporaryFolder folder;
    folder.write("aml_config/docker.runconfig",
                 "target: local\nframework: Python\nenvironment:\n  docker:\n    enabled: true\n"
                 "    baseImage: me/gpu:1\n    gpuSupport: true\n    shmSize: 2g\n"
                 "  python:\n    interpreterPath: /opt/python\n");
    folder.write("aml_config/host.compute", "type: remotedocker\naddress: h\nusername: u\n");
    folder.write("aml_config/host.runconfig",
                 "target: host\nframework: Python\nenvironment: {docker: {enabled: false}}\n");
    const auto docker = resolve_in(folder, "docker");
    ASSERT_TRUE(docker) << docker.error().message();
    EXPECT_EQ(*docker->target.type, TargetType::localdocker);
    EXPECT_EQ(*docker->target.base_docker_image, "me/gpu:1");
    EXPECT_TRUE(*docker->target.nvidia_docker);
    EXPECT_EQ(*docker->target.shm_size, "2g");
    EXPECT_EQ(*docker->target.python_location, "/opt/python");
    const auto host = resolve_in(folder, "host");
    ASSERT_TRUE(host) << host.error().message();
    EXPECT_EQ(*host->target.type, TargetType::remote);
}

TEST(Project, ChecksFilesAgainstEachOther)
{
    const TemporaryFolder folder;
    folder.write("aml_config/gpu.compute",
                 "type: docker\nbaseDockerImage: me/gpu\nnvidiaDocker: true\n");
    folder.write("aml_config/gpu.runconfig", "Target: gpu\nFramework: Python\n");
    folder.write("aml_config/cpu.compute", "type: docker\n");
    folder.write(
        "aml_config/cpu.runconfig",
        "Target: cpu\nFramework: Python\nCondaDependenciesFile: aml_config/conda_gpu.yml\n");
    folder.write("aml_config/conda_dependencies.yml", "dependencies: [tensorflow=1.4.0]\n");
    folder.write("aml_config/conda_gpu.yml", "dependencies: [keras-gpu]\n");
    folder.write("aml_config/lost.runconfig",
                 "Target: cpu\nFramework: PySpark\nCondaDependenciesFile: no.yml\n"
                 "SparkDependenciesFile: none.yml\n");
    folder.write("aml_config/away.runconfig", "Target: away\nFramework: Python\n");
    folder.write("aml_config/notes.txt", "not: [ours");
    folder.write("aml_config/old.compute~", "not: [ours");
    EXPECT_EQ(checked(folder),
              "aml_config/away.runconfig:1:9 dangling-target\n"
              "aml_config/conda_dependencies.yml:1:16 cpu-package-with-gpu\n"
              "aml_config/conda_gpu.yml:1:16 gpu-package-without-flag\n"
              "aml_config/conda_gpu.yml:1:16 package-gone\n"
              "aml_config/lost.runconfig:3:24 missing-file\n"
              "aml_config/lost.runconfig:4:24 missing-file");
    EXPECT_TRUE(resolve_in(folder, "gpu"));
    EXPECT_FALSE(resolve_in(folder, "lost"));
}

TEST(Project, TellsWhereNullMeansTheDefaultCondaFile)
{
    const TemporaryFolder folder;
    folder.write("aml_config/cpu.compute", "type: docker\n");
    folder.write("aml_config/cpu.runconfig",
                 "Target: cpu\nFramework: Python\nCondaDependenciesFile: null\n");
    folder.write("aml_config/own.runconfig",
                 "Target: cpu\nFramework: Python\nCondaDependenciesFile: null\n"
                 "ManagedEnvironment: false\n");
    folder.write("aml_config/new.runconfig",
                 "target: cpu\nframework: Python\nenvironment:\n  python:\n"
                 "    condaDependenciesFile: ~\n");
    EXPECT_EQ(checked(folder), "");
    folder.write("aml_config/conda_dependencies.yml", "dependencies: [numpy]\n");
    EXPECT_EQ(checked(folder),
              "aml_config/cpu.runconfig:3:24 null-conda-file\n"
              "aml_config/new.runconfig:5:28 null-conda-file");
}

TEST(Project, ComparesASingleFileWithItsNeighbours)
{
    const TemporaryFolder folder;
    folder.write("aml_config/a.runconfig", "Target: away\nFramework: Python\n");
    folder.write("elsewhere/a.runconfig", "Target: away\nFramework: Python\n");
    const auto inside = check_files({folder.path() / "aml_config/a.runconfig"});
    ASSERT_EQ(inside.size(), 1U);
    EXPECT_EQ(inside[0].code, "dangling-target");
    EXPECT_EQ(inside[0].file, (folder.path() / "aml_config/a.runconfig").string());
    EXPECT_TRUE(check_files({folder.path() / "elsewhere/a.runconfig"}).empty());
}

TEST(Project, ReportsABrokenFileOnce)
{
    const TemporaryFolder folder;
    folder.write("aml_config/docker.compute", "type: docker\n\tnvidiaDocker: true\n");
    folder.write("aml_config/a.runconfig", "Target: docker\nFramework: Python\n");
    folder.write("aml_config/b.runconfig", "Target: docker\nFramework: Python\n");
    EXPECT_EQ(checked(folder), "aml_config/docker.compute:2:1 tab-indentation");
    EXPECT_EQ(resolve_in(folder, "a").error().message(),
              "aml_config/docker.compute:2:1: a tab indents this line; YAML allows spaces only");
}

}  // namespace
}  // namespace ponk::config
