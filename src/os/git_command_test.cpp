// SPDX-License-Identifier: Apache-2.0
#include "base/time.hpp"
#include "os/git_command.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

namespace ponk::os {
namespace {

class Cloning : public testing::Test {
protected:
    ~Cloning() override { ::unsetenv("GIT_TEMPLATE_DIR"); }

    static int run(const Command& command)
    {
        const auto child = spawn(command);
        if (!child) return -1;
        const auto ended = wait_for_exit(*child, after(std::chrono::minutes(1)), {});
        return ended ? ended->status() : -1;
    }
    [[nodiscard]] int git(const std::vector<std::string>& words) const
    {
        Command command;
        command.argv = {"git", "-c", "user.name=n", "-c", "user.email=e"};
        command.argv.insert(command.argv.end(), words.begin(), words.end());
        command.directory = source_;
        return run(command);
    }
    void SetUp() override
    {
        std::filesystem::create_directories(source_);
        if (git({"init", "-q"}) != 0) GTEST_SKIP() << "there is no git";
        ASSERT_TRUE(replace_file(source_ / "train.py", "print(1)\n"));
        ASSERT_EQ(git({"add", "train.py"}), 0);
        ASSERT_EQ(git({"commit", "-q", "-m", "first"}), 0);
    }

    TestFolder folder_;
    const Path source_ = folder_.path() / "source";
    const Path copy_ = folder_.path() / "copy";
};

TEST_F(Cloning, BringsTheFilesAndRunsNoHookOfATemplate)
{
    const auto hooks = folder_.path() / "template" / "hooks";
    std::filesystem::create_directories(hooks);
    ASSERT_TRUE(replace_file(hooks / "post-checkout",
                             "#!/bin/sh\ntouch '" + (folder_.path() / "ran").native() + "'\n",
                             0755));
    ::setenv("GIT_TEMPLATE_DIR", (folder_.path() / "template").c_str(), 1);

    ASSERT_EQ(run(git_clone("file://" + source_.native(), copy_)), 0);

    EXPECT_TRUE(std::filesystem::exists(copy_ / "train.py"));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "ran"));
}

TEST_F(Cloning, ALocalRepositoryCannotSendItElsewhere)
{
    const auto local = git_clone("file://" + source_.native(), copy_);
    EXPECT_THAT(*local.env, testing::Contains("GIT_ALLOW_PROTOCOL=file"));
    EXPECT_THAT(*local.env, testing::Contains("GIT_NO_LAZY_FETCH=1"));
    const auto remote = git_clone("https://example.org/a.git", copy_);
    EXPECT_THAT(*remote.env, testing::Contains("GIT_ALLOW_PROTOCOL=https:http:ssh:git"));
    for (const auto& command : {local, remote}) {
        EXPECT_THAT(command.argv, testing::Contains("core.hooksPath=/dev/null"));
        EXPECT_THAT(command.argv, testing::Contains("--no-recurse-submodules"));
    }
}

TEST_F(Cloning, AnAddressThatIsACommandIsNotRun)
{
    const auto mark = folder_.path() / "ran";
    auto command = git_clone("ext::sh -c touch% " + mark.native() + "% ://", copy_);
    // As a user may have it for a purpose of their own.
    command.env->emplace_back("GIT_CONFIG_COUNT=1");
    command.env->emplace_back("GIT_CONFIG_KEY_0=protocol.ext.allow");
    command.env->emplace_back("GIT_CONFIG_VALUE_0=always");

    EXPECT_NE(run(command), 0);
    EXPECT_FALSE(std::filesystem::exists(mark));
}

}  // namespace
}  // namespace ponk::os
