// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>

namespace ponk::executor {
namespace {

class ControlSeal : public testing::Test {
protected:
    os::TestFolder place_;
    SealedFiles files_{place_.path(), std::string(64, 'a')};
};

TEST_F(ControlSeal, IsWhatTheDocumentSays)
{
    // By hand: K=$(printf 'a%.0s' $(seq 64)); I=$(printf "$K:exit\nx 1\n" | sha256sum | cut -c-64);
    // printf "$K:$I" | sha256sum
    EXPECT_EQ(files_.sealed("exit", "x 1\nend\n"),
              "x 1\nseal b357ad7b9034a0b89d8be42466fede81bcd30f3e8ae9aef4269ff6e6710984d7\nend\n");
}

TEST_F(ControlSeal, FindsOnlyWhatIsItsOwn)
{
    ASSERT_TRUE(files_.publish("exit", "code 3\nend\n"));
    const auto text = os::read_file(place_.path() / "exit").value();

    EXPECT_EQ(files_.find("exit").value(), "code 3\nend\n");
    EXPECT_EQ(files_.find("none").value(), std::nullopt);
    ASSERT_TRUE(os::replace_file(place_.path() / "ended", text));  // another name
    EXPECT_EQ(files_.find("ended").value(), std::nullopt);
    const SealedFiles other(place_.path(), std::string(64, 'b'));  // another run's
    EXPECT_EQ(other.find("exit").value(), std::nullopt);
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto changed = text;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        ASSERT_TRUE(os::replace_file(place_.path() / "exit", changed));
        EXPECT_EQ(files_.find("exit").value(), std::nullopt) << i;
        ASSERT_TRUE(os::replace_file(place_.path() / "exit", text.substr(0, i)));
        EXPECT_EQ(files_.find("exit").value(), std::nullopt) << i;
    }
}

TEST_F(ControlSeal, PublishesOnceAndOverWhatIsNotItsOwn)
{
    const auto path = place_.path() / "exit";
    ASSERT_TRUE(files_.publish("exit", "first\nend\n"));
    ASSERT_TRUE(files_.publish("exit", "second\nend\n"));
    EXPECT_EQ(files_.find("exit").value(), "first\nend\n");

    ASSERT_TRUE(os::replace_file(path, "first\nend\n"));
    ASSERT_TRUE(files_.publish("exit", "second\nend\n"));
    EXPECT_EQ(files_.find("exit").value(), "second\nend\n");

    std::filesystem::remove(path);
    std::filesystem::create_directories(path / "full");
    EXPECT_EQ(files_.find("exit").value(), std::nullopt);
    ASSERT_TRUE(files_.publish("exit", "third\nend\n"));
    EXPECT_EQ(files_.find("exit").value(), "third\nend\n");

    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(files_.find("exit").value(), std::nullopt);
    EXPECT_TRUE(files_.is_taken("exit"));
}

TEST_F(ControlSeal, WhatIsBehindALinkIsNotOurs)
{
    ASSERT_TRUE(files_.publish("exit", "first\nend\n"));
    std::filesystem::rename(place_.path() / "exit", place_.path() / "elsewhere");
    std::filesystem::create_symlink("elsewhere", place_.path() / "exit");

    EXPECT_EQ(files_.find("exit").value(), std::nullopt);
}

TEST_F(ControlSeal, KeysAreKeptAndDifferByRun)
{
    const auto file = place_.path() / "run.key";
    const auto keys = RunKeys::load(file).value();

    EXPECT_EQ(keys.of("a").size(), 64U);
    EXPECT_NE(keys.of("a"), keys.of("b"));
    EXPECT_EQ(RunKeys::load(file)->of("a"), keys.of("a"));
    EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
    ASSERT_TRUE(os::replace_file(file, "not hex"));
    EXPECT_EQ(RunKeys::load(file).error().kind(), ErrorKind::damaged);
}

}  // namespace
}  // namespace ponk::executor
