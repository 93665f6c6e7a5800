// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "os/process.hpp"
#include "os/test_folder.hpp"
#include "ssh/host_home.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

namespace ponk::ssh {
namespace {

constexpr uid_t stranger = 54321;

class HostHome : public testing::Test {
protected:
    void SetUp() override
    {
        scratch_ = std::filesystem::canonical(folder_.path()) / "it's scratch";
        home_ = scratch_ / fmt::format("ponk-{}", ::getuid());
        ASSERT_TRUE(os::make_directories(scratch_));
        ASSERT_EQ(::chmod(scratch_.c_str(), 01777), 0);
    }
    // What `after` says once the folder was found, or the complaint.
    [[nodiscard]] std::string run(const std::string& after_that = "printf '<%s>' \"$h\"") const
    {
        const auto script = find_host_home(scratch_.string()) + after_that;
        const auto done = os::run(
            {.argv = {"/bin/sh", "-c", "set -u\n" + script}}, after(std::chrono::seconds(30)), {});
        if (!done) return done.error().message();
        return done->exit.status() == 0 ? done->out : done->err;
    }
    [[nodiscard]] bool refuses(std::string_view words) const
    {
        const auto said = run();
        EXPECT_NE(said.find(words), std::string::npos) << said;
        EXPECT_TRUE(said.starts_with("ponk-agent: ")) << said;
        return said.find(words) != std::string::npos;
    }
    [[nodiscard]] std::string found() const { return "<" + home_.string() + ">"; }

    os::TestFolder folder_;
    os::Path scratch_;
    os::Path home_;
};

TEST_F(HostHome, IsFoundBeforeItIsThereAndMadeForUsAlone)
{
    EXPECT_EQ(run(), found());
    EXPECT_EQ(run(make_host_home() + "echo made"), "made\n");
    struct stat info {};
    ASSERT_EQ(::stat((home_ / "bin").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0700U);
    EXPECT_EQ(run(), found());
    EXPECT_EQ(run(make_host_home() + "echo again"), "again\n");
}

TEST_F(HostHome, IsRefusedWhereOthersMayWrite)
{
    ASSERT_TRUE(os::make_directories(home_, 0700));
    for (const mode_t mode : {0777U, 0702U, 0770U}) {
        ASSERT_EQ(::chmod(home_.c_str(), mode), 0);
        EXPECT_TRUE(refuses("can be written to by others"));
    }
    ASSERT_EQ(::chmod(home_.c_str(), 0755), 0);
    EXPECT_EQ(run(), found());
}

TEST_F(HostHome, IsRefusedWhereEverybodyMayExchangeIt)
{
    ASSERT_TRUE(os::make_directories(home_, 0700));
    ASSERT_EQ(::chmod(scratch_.c_str(), 0777), 0);
    EXPECT_TRUE(refuses("others can replace the content of"));
    EXPECT_EQ(run(make_host_home() + "echo made").find("made"), std::string::npos);
}

TEST_F(HostHome, IsRefusedWhereAGroupMayExchangeIt)
{
    ASSERT_TRUE(os::make_directories(home_, 0700));
    ASSERT_EQ(::chmod(scratch_.c_str(), 0775), 0);
    EXPECT_TRUE(refuses("others can replace the content of"));
    ASSERT_EQ(::chmod(scratch_.c_str(), 01775), 0);
    EXPECT_EQ(run(), found());
}

TEST_F(HostHome, IsRefusedWhereAFolderFurtherUpIsOpen)
{
    scratch_ = scratch_ / "deep/er";
    home_ = scratch_ / home_.filename();
    ASSERT_TRUE(os::make_directories(home_, 0700));
    EXPECT_EQ(run(), found());
    const auto above = scratch_.parent_path();
    ASSERT_EQ(::chmod(above.c_str(), 0777), 0);
    EXPECT_TRUE(refuses("others can replace the content of '" + above.string()));
    ASSERT_TRUE(os::remove_tree(scratch_));
    EXPECT_EQ(run(make_host_home() + "echo made").find("made"), std::string::npos);
}

TEST_F(HostHome, WhatLiesInTheHomeFolderNeedsNoTrustAboveIt)
{
    const auto user = folder_.path() / "open/user";
    ASSERT_TRUE(os::make_directories(user, 0700));
    ASSERT_EQ(::chmod(user.parent_path().c_str(), 0777), 0);
    const auto said = [&user](const std::string& scratch) {
        const auto script =
            "set -u\n" + find_host_home(scratch) + make_host_home() + "printf '<%s>' \"$h\"";
        const auto done = os::run(
            {.argv = {"/bin/sh", "-c", script},
             .env = std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=" + user.string()}},
            after(std::chrono::seconds(30)),
            {});
        return done->out + done->err;
    };
    EXPECT_EQ(said(""), "<" + (user / ".ponk").string() + ">");
    EXPECT_EQ(said("~/s"), fmt::format("<{}/s/ponk-{}>", user.string(), ::getuid()));
    EXPECT_EQ(said("t/u"), fmt::format("<{}/t/u/ponk-{}>", user.string(), ::getuid()));
    ASSERT_EQ(::chmod((user / "t").c_str(), 0770), 0);
    EXPECT_NE(said("t/u").find("others can replace"), std::string::npos);
    ASSERT_EQ(::chmod(user.c_str(), 0777), 0);
    EXPECT_NE(said("").find("everybody can replace"), std::string::npos);
}

TEST_F(HostHome, ALinkOfOurOwnIsFollowed)
{
    const auto disk = folder_.path() / "large disk";
    ASSERT_TRUE(os::make_directories(disk / "ours", 0700));
    ASSERT_EQ(::symlink((disk / "ours").c_str(), home_.c_str()), 0);
    EXPECT_EQ(run("printf '%s %s' \"$h\" \"$l\""), (disk / "ours").string() + " " + home_.string());
    ASSERT_EQ(::chmod((disk / "ours").c_str(), 0777), 0);
    EXPECT_TRUE(refuses("can be written to by others"));
    ASSERT_EQ(::chmod((disk / "ours").c_str(), 0700), 0);
    ASSERT_EQ(::chmod(disk.c_str(), 0777), 0);
    EXPECT_TRUE(refuses("others can replace the content of '" + disk.string()));
}

TEST_F(HostHome, LinksOnTheWayAreLeftOutOfItsName)
{
    ASSERT_TRUE(os::make_directories(home_, 0700));
    const auto way = folder_.path() / "way";
    ASSERT_EQ(::symlink(scratch_.c_str(), way.c_str()), 0);
    scratch_ = way;
    EXPECT_EQ(run(), found());
}

// Sticky or not: its owner may exchange everything in it, at any moment.
TEST_F(HostHome, IsRefusedInAFolderOfAnotherUser)
{
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
    const auto above = folder_.path() / "theirs";
    for (const auto& place : {above, above / "between"}) {
        scratch_ = place;
        home_ = scratch_ / fmt::format("ponk-{}", ::getuid());
        ASSERT_TRUE(os::make_directories(home_, 0700));
        ASSERT_EQ(::chown(above.c_str(), stranger, stranger), 0);
        for (const mode_t mode : {01777U, 0755U}) {
            ASSERT_EQ(::chmod(above.c_str(), mode), 0);
            EXPECT_TRUE(refuses("belongs to another user (uid 54321), who can replace"));
        }
        ASSERT_TRUE(os::remove_tree(home_));
        EXPECT_EQ(run(make_host_home() + "echo made").find("made"), std::string::npos);
        EXPECT_FALSE(std::filesystem::exists(home_));
    }
}

TEST_F(HostHome, OfAnotherUserIsRefused)
{
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
    ASSERT_TRUE(os::make_directories(home_, 0755));
    ASSERT_EQ(::lchown(home_.c_str(), stranger, stranger), 0);
    EXPECT_TRUE(refuses("belongs to another user (uid 54321)"));
    EXPECT_EQ(run(make_host_home() + "echo made").find("made"), std::string::npos);
}

TEST_F(HostHome, ALinkOfAnotherUserIsRefused)
{
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
    ASSERT_TRUE(os::make_directories(folder_.path() / "ours", 0700));
    ASSERT_EQ(::symlink((folder_.path() / "ours").c_str(), home_.c_str()), 0);
    ASSERT_EQ(::lchown(home_.c_str(), stranger, stranger), 0);
    EXPECT_TRUE(refuses("belongs to another user (uid 54321)"));
    // One that leads nowhere is no invitation to make what it names.
    ASSERT_EQ(::rmdir((folder_.path() / "ours").c_str()), 0);
    EXPECT_TRUE(refuses("belongs to another user (uid 54321)"));
    EXPECT_NE(::access((folder_.path() / "ours").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace ponk::ssh
