// SPDX-License-Identifier: Apache-2.0
#include "config/consents/consents.hpp"
#include "config/files/docker_arguments.hpp"
#include "config/project/project.hpp"
#include "os/golden_test_support.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

namespace ponk::config {
namespace {

class ConsentsTest : public testing::Test {
protected:
    void write(const std::string& name, std::string_view text)
    {
        const auto file = project_ / "aml_config" / name;
        ASSERT_TRUE(os::make_directories(file.parent_path()));
        ASSERT_TRUE(os::replace_file(file, text, 0644, os::Durable::no));
    }
    std::vector<std::string> asked(const std::string& configuration)
    {
        const auto resolved = resolve(open_project(project_).value(), configuration);
        EXPECT_TRUE(resolved) << resolved.error().message();
        std::vector<std::string> texts;
        if (!resolved) return texts;
        const auto requests = requests_of(*resolved).value();
        for (const auto& request : requests)
            texts.push_back(request.text());
        return texts;
    }

    os::TestFolder folder_;
    os::Path home_ = folder_.path() / "home";
    os::Path project_ = folder_.path() / "project";
    Consents consents_{home_};
};

using Texts = std::vector<std::string>;

TEST_F(ConsentsTest, EveryRequestIsNamedWithItsPlace)
{
    write("host.compute",
          "type: localdocker\nbaseDockerImage: x\nnativeSharedDirectory: /data\nbuildNetwork: "
          "host\n");
    write("host.runconfig",
          "framework: Python\ntarget: host\nenvironment:\n  environmentVariables:\n    A: "
          "secret:TOKEN\n"
          "    B: secret:TOKEN\n    C: plain\n  docker:\n    enabled: true\n"
          "    arguments: [-v, '/:/host', --memory, 2g, --ipc=host]\n    baseImageRegistry:\n"
          "      password: secret:REGISTRY\n");

    EXPECT_EQ(asked("host"),
              (Texts{"the secret 'TOKEN' (aml_config/host.runconfig:5)",
                     "the secret 'REGISTRY' (aml_config/host.runconfig:12)",
                     "the docker argument '--volume=/:/host' (aml_config/host.runconfig:10)",
                     "the docker argument '--ipc=host' (aml_config/host.runconfig:10)",
                     "the docker argument '--network=host' (aml_config/host.compute:4)",
                     "the shared folder '/data' (aml_config/host.compute:3)"}));
}

TEST_F(ConsentsTest, WhatProjectsOf2017HaveIsNotAskedAbout)
{
    write("docker.compute",
          "type: localdocker\nbaseDockerImage: x\nnativeSharedDirectory: "
          "~/.azureml/share\nbuildNetwork: none\n");
    write("docker.runconfig",
          "Target: docker\nFramework: Python\nEnvironmentVariables:\n  EXAMPLE_ENV_VAR: Example\n");

    EXPECT_EQ(asked("docker"), Texts{});
    EXPECT_EQ(asked("local"), Texts{});
}

TEST_F(ConsentsTest, OneProjectIsNotAnother)
{
    const std::vector<Request> requests{{ConsentKind::secret, "TOKEN", "f:1"},
                                        {ConsentKind::docker_argument, "--ipc=host", "f:2"}};
    ASSERT_TRUE(os::make_directories(project_));
    const auto name = project_name_in_consents(project_);

    const auto refused = consents_.require(project_, requests);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::conflict);
    EXPECT_EQ(refused.error().hint(),
              "If you trust the project's code, run this in its folder: ponk allow secret TOKEN && "
              "ponk allow docker-argument --ipc=host");

    ASSERT_TRUE(consents_.add({ConsentKind::secret, name, "TOKEN", 1}));
    EXPECT_EQ(consents_.missing(project_, requests).value().size(), 1U);
    ASSERT_TRUE(consents_.add({ConsentKind::docker_argument, name, "--ipc=host", 1}));
    EXPECT_TRUE(consents_.require(project_, requests));
    EXPECT_FALSE(consents_.require(folder_.path(), requests));

    ASSERT_TRUE(consents_.remove({ConsentKind::secret, name, "TOKEN"}));
    EXPECT_FALSE(consents_.require(project_, requests));
    EXPECT_EQ(consents_.remove({ConsentKind::secret, name, "TOKEN"}).error().kind(),
              ErrorKind::not_found);
    ASSERT_TRUE(consents_.add({ConsentKind::secret, Consent::every_project, "TOKEN", 1}));
    EXPECT_TRUE(consents_.require(project_, requests));
}

TEST_F(ConsentsTest, AFileThatIsNotUnderstoodAllowsNothing)
{
    ASSERT_TRUE(os::make_directories(home_));
    for (const char* text : {"",
                             "{",
                             "[]",
                             R"({"version": 2, "allowed": []})",
                             R"({"version": 1, "allowed": [{"kind": "all"}]})"}) {
        ASSERT_TRUE(os::replace_file(home_ / "allowed.json", text, 0600, os::Durable::no));
        EXPECT_FALSE(consents_.require(project_, {{ConsentKind::secret, "TOKEN", ""}})) << text;
        EXPECT_FALSE(consents_.add({ConsentKind::secret, "*", "TOKEN"})) << text;
    }
}

TEST_F(ConsentsTest, TheFileHasTheFormOfItsDocument)
{
    const os::Path golden = PONK_SOURCE_DIR "/tests/golden/allowed.json";
    ASSERT_TRUE(consents_.add({ConsentKind::secret, "/home/ann/mnist", "TOKEN", 1740832205123}));
    ASSERT_TRUE(consents_.add({ConsentKind::secret, "*", "kaggle", 1740832205124}));
    ASSERT_TRUE(consents_.add({ConsentKind::docker_argument,
                               "/home/ann/mnist",
                               "--volume=/data:/data:ro",
                               1740832205125}));
    ASSERT_TRUE(
        consents_.add({ConsentKind::folder, "/home/ann/mnist", "/data/share", 1740832205126}));
    const auto text = os::read_file(home_ / "allowed.json").value_or("");
    os::expect_golden(golden, text);  // docs/design/consents.md
}

TEST(DockerArguments, WhatReachesTheHostIsToldFromWhatDoesNot)
{
    const auto reaching = [](const std::vector<std::string>& words) {
        Texts texts;
        const auto arguments = parse_docker_arguments(words).value();
        for (const auto& argument : arguments)
            if (reaches_host(argument)) texts.push_back(argument.text());
        return texts;
    };
    EXPECT_EQ(reaching({"-v",
                        "/:/host",
                        "--volume=/a:/b:ro",
                        "--device",
                        "/dev/kvm",
                        "--cap-add",
                        "ALL",
                        "--security-opt=seccomp=unconfined",
                        "--net",
                        "host",
                        "--ipc=host",
                        "--userns",
                        "host",
                        "--uts=host",
                        "--runtime=own",
                        "--privileged",
                        "--pid=host",
                        "--mount",
                        "type=bind,src=/,dst=/h",
                        "--cgroup-parent=/"}),
              (Texts{"--volume=/:/host",
                     "--volume=/a:/b:ro",
                     "--device=/dev/kvm",
                     "--cap-add=ALL",
                     "--security-opt=seccomp=unconfined",
                     "--network=host",
                     "--ipc=host",
                     "--userns=host",
                     "--uts=host",
                     "--runtime=own",
                     "--privileged",
                     "--pid=host",
                     "--mount=type=bind,src=/,dst=/h",
                     "--cgroup-parent=/"}));
    EXPECT_EQ(reaching({"-e",
                        "A=B",
                        "-m",
                        "2g",
                        "--shm-size=1g",
                        "--ulimit",
                        "nofile=9",
                        "-it",
                        "--network=none",
                        "--ipc=private",
                        "--cap-drop=ALL",
                        "--read-only",
                        "--security-opt=no-new-privileges",
                        "--init",
                        "--tmpfs",
                        "/tmp"}),
              Texts{});
    EXPECT_FALSE(parse_docker_arguments({"--memory"}));
}

}  // namespace
}  // namespace ponk::config
