// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/resolve_run_test_support.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>

namespace ponk::engine {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Texts = std::vector<std::string>;

class Packages : public testing::Test {
protected:
    Packages() : project_(*os::make_temporary_directory(testing::TempDir(), "ponk-packages-"))
    {
        write("train.py", "print(1)\n");
    }
    ~Packages() override { static_cast<void>(os::remove_tree(project_)); }

    void write(const std::string& name, const std::string& text)
    {
        std::filesystem::create_directories((project_ / name).parent_path());
        ASSERT_TRUE(os::replace_file(project_ / name, text));
    }

    void write_environment(const std::string& folder)
    {
        write(folder + "/pyvenv.cfg", "home = /usr/bin\n");
        write(folder + "/bin/python", "#!/bin/sh\n");
        std::filesystem::permissions(project_ / folder / "bin/python",
                                     std::filesystem::perms::owner_all);
    }

    void write_configuration(const std::string& name, const std::string& text)
    {
        write("aml_config/" + name + ".runconfig", "Framework: Python\n" + text);
    }

    Result<ResolvedRun> resolve(const std::string& configuration = "local")
    {
        wanted_.run_configuration = configuration;
        return resolve_run(wanted_, submitter_);
    }

    std::string chosen(const std::string& configuration = "local")
    {
        const auto report = resolve(configuration);
        return report ? report->spec.environment.choice : report.error().message();
    }

    Texts notices(const std::string& configuration = "local")
    {
        const auto report = resolve(configuration);
        if (!report) return {report.error().message()};
        Texts found;
        std::ranges::copy_if(report->notices, std::back_inserter(found), [](const auto& text) {
            return text.find(" used") != text.npos;
        });
        return found;
    }

    Path project_;
    Submitter submitter_{.environment = {"HOME=/home/ann", "PATH=/usr/bin"}};
    RunRequest wanted_ = [this] {
        RunRequest request;
        request.id = RunId::make();
        request.project = project_;
        request.script = "train.py";
        return request;
    }();
};

TEST_F(Packages, ANamedFileIsUsed)
{
    wanted_.conda_dependencies = "more.yml";
    EXPECT_EQ(chosen(), "package file 'more.yml' does not exist");
    write("more.yml", "dependencies: []\n");
    write("requirements.txt", "numpy\n");

    const auto report = resolve();

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->spec.environment.file, "more.yml");
}

// From the last to the first: each is added to all that come after it.
TEST_F(Packages, AreChosenInOneOrderOnEachTarget)
{
    const std::string image = "those of the image";
    const std::string host = "the Python on PATH of the host";
    const std::string path = "the Python on PATH";
    const auto has = [](const std::string& name) { return "the project has " + name; };
    write("aml_config/docker.compute", "type: localdocker\nbaseDockerImage: debian:12\n");
    write("aml_config/host.compute",
          "type: remote\naddress: gpu1\nusername: ann\nuserManagedEnvironment: false\n");
    write_configuration("managed", "Target: local\nManagedEnvironment: true\n");
    write_configuration("old", "Target: local\n");
    write_configuration("docker", "Target: docker\n");
    write_configuration("host", "Target: host\n");
    struct Rung {
        std::function<void()> add;
        std::string local, managed, old, docker, host;
    };
    const auto file = [this](const char* name, const char* text) {
        return [=, this] { write(name, text); };
    };
    const auto everywhere = [](std::function<void()> add, const std::string& choice) {
        return Rung{std::move(add), choice, choice, choice, choice, choice};
    };
    const auto of_files = [&](const char* name, const char* text) {
        auto rung = everywhere(file(name, text), has(name));
        rung.old = path;
        return rung;
    };
    const auto conda = has("aml_config/conda_dependencies.yml");
    const auto lock = has("uv.lock");
    const std::string active = "the active environment";
    const std::string own = "'.venv' of the project";
    const std::string names = "' names mine.yml";
    const char* const numpy = "dependencies: [numpy]\n";
    const Rung rungs[] = {
        {[] {}, path, path, path, image, host},
        of_files("requirements.txt", "numpy\n"),
        {file("aml_config/conda_dependencies.yml", numpy),
         has("requirements.txt"),
         conda,
         path,
         conda,
         conda},
        of_files("environment.yaml", numpy),
        of_files("environment.yml", numpy),
        {file("pyproject.toml", "[project]\nname = 'x'\n"),
         has("environment.yml"),
         has("environment.yml"),
         path,
         has("environment.yml"),
         has("environment.yml")},
        of_files("pyproject.toml", "[project]\nname = 'x'\ndependencies = ['numpy']\n"),
        of_files("uv.lock", "version = 1\n"),
        {[this] {
             write_environment("active");
             submitter_.environment.push_back("VIRTUAL_ENV=" + (project_ / "active").native());
         },
         active,
         active,
         active,
         lock,
         lock},
        {file(".venv/pyvenv.cfg", "home = /usr/bin\n"), active, active, active, lock, lock},
        {[this] { write_environment(".venv"); }, own, own, own, lock, lock},
        everywhere(file("train.py", "# /// script\n# dependencies = ['numpy']\n# ///\n"),
                   "the script names its packages"),
        {[&] {
             write("mine.yml", numpy);
             for (const std::string name : {"managed", "docker", "host"})
                 write_configuration(name,
                                     "Target: " + (name == "managed" ? "local" : name) +
                                         "\nManagedEnvironment: true\n"
                                         "CondaDependenciesFile: mine.yml\n");
         },
         "the script names its packages",
         "run configuration 'managed" + names,
         "the script names its packages",
         "run configuration 'docker" + names,
         "run configuration 'host" + names},
        everywhere([this] { wanted_.conda_dependencies = "requirements.txt"; },
                   "the option '--conda-dependencies' names requirements.txt"),
        everywhere([this] { wanted_.python = "/usr/bin/python3"; }, "the option '--python'"),
    };
    int number = 0;
    for (const auto& rung : rungs) {
        SCOPED_TRACE(number++);
        rung.add();
        EXPECT_EQ(chosen("local"), rung.local);
        EXPECT_EQ(chosen("managed"), rung.managed);
        EXPECT_EQ(chosen("old"), rung.old);
        EXPECT_EQ(chosen("docker"), rung.docker);
        EXPECT_EQ(chosen("host"), rung.host);
    }
}

TEST_F(Packages, ThatNobodyInstallsAreToldOnce)
{
    write("aml_config/conda_dependencies.yml", "dependencies:\n- python=3.6\n- pip\n");
    EXPECT_THAT(notices(), IsEmpty()) << "it asks for nothing but Python";
    write("aml_config/conda_dependencies.yml",
          "dependencies:\n- python=3.6\n- pip:\n  - tensorflow==1.4\n");
    EXPECT_THAT(notices(),
                ElementsAre("'aml_config/conda_dependencies.yml' is not used: on target 'local' "
                            "the script uses the packages of its Python ('ManagedEnvironment: "
                            "true' in a run configuration installs those of the file, '-d "
                            "aml_config/conda_dependencies.yml' does so for one run)"));

    write("aml_config/host.compute", "type: remote\naddress: gpu1\nusername: ann\n");
    write_configuration("host", "Target: host\n");
    EXPECT_THAT(notices("host"),
                ElementsAre(HasSubstr("'userManagedEnvironment: false' in "
                                      "'aml_config/host.compute' installs")));
    write("aml_config/host.compute",
          "type: remote\naddress: gpu1\nusername: ann\nuserManagedEnvironment: false\n");
    EXPECT_THAT(notices("host"), IsEmpty());
}

// The word that the notice names makes it untrue.
TEST_F(Packages, AFileThatAConfigurationLeavesToTheUserIsTold)
{
    struct Form {
        std::string by_user, managed, word;
    };
    const Form forms[] = {{"Target: local\nFramework: Python\n",
                           "Target: local\nFramework: Python\nManagedEnvironment: true\n",
                           "'ManagedEnvironment: true' in 'aml_config/local.runconfig'"},
                          {"Target: local\nFramework: Python\nManagedEnvironment: false\n",
                           "Target: local\nFramework: Python\nManagedEnvironment: true\n",
                           "'ManagedEnvironment: true' in 'aml_config/local.runconfig'"},
                          {"target: local\nframework: Python\nenvironment:\n  python:\n    "
                           "userManagedDependencies: true\n",
                           "target: local\nframework: Python\nenvironment:\n  python:\n    "
                           "userManagedDependencies: false\n",
                           "'userManagedDependencies: false' in 'aml_config/local.runconfig'"}};
    struct File {
        std::string name, text;
    };
    const File files[] = {{"requirements.txt", "numpy\n"},
                          {"environment.yml", "dependencies: [numpy]\n"},
                          {"pyproject.toml", "[project]\nname = 'x'\ndependencies = ['numpy']\n"}};
    for (const auto& form : forms) {
        for (const auto& [name, text] : files) {
            SCOPED_TRACE(form.by_user + name);
            write("aml_config/local.runconfig", form.by_user);
            EXPECT_THAT(notices(), IsEmpty());
            write(name, text);
            EXPECT_THAT(notices(),
                        ElementsAre(AllOf(HasSubstr("'" + name + "' is not used"),
                                          HasSubstr(form.word),
                                          HasSubstr("'-d " + name + "' does so for one run"))));
            write("aml_config/local.runconfig", form.managed);
            EXPECT_EQ(chosen(), "the project has " + name);
            EXPECT_THAT(notices(), IsEmpty());
            write("aml_config/local.runconfig", form.by_user);
            // Those who choose for themselves need no advice.
            wanted_.python = "/usr/bin/python3";
            EXPECT_THAT(notices(), IsEmpty());
            wanted_.python.clear();
            write_environment(".venv");
            EXPECT_THAT(notices(), IsEmpty());
            std::filesystem::remove_all(project_ / ".venv");
            std::filesystem::remove(project_ / name);
        }
    }
}

}  // namespace
}  // namespace ponk::engine
