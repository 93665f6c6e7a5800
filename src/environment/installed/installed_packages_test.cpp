// SPDX-License-Identifier: Apache-2.0
#include "environment/installed/installed_packages.hpp"
#include "os/test_folder.hpp"
#include "os/variables.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace ponk::environment {
namespace {

using testing::HasSubstr;

// A Python whose imports look in one folder of ours and nowhere else of interest.
class InstalledTest : public testing::Test {
protected:
    void add(const std::string& entry, const std::string& file = "", const std::string& text = "")
    {
        ASSERT_TRUE(os::make_directories(site_ / entry));
        if (file.empty()) return;
        ASSERT_TRUE(os::replace_file(site_ / entry / file, text, 0644));
    }

    Result<Installed> ask()
    {
        return installed_packages(folder_.path() / "home",
                                  "/usr/bin/python3",
                                  folder_.path(),
                                  {"PATH=/usr/bin:/bin", "PYTHONPATH=" + site_.native()},
                                  {});
    }

    static std::string version_of(const Installed& installed, const std::string& name)
    {
        for (const auto& package : installed.lock.packages)
            if (package.name == name) return package.version + " " + package.source;
        return "(none)";
    }

    os::TestFolder folder_;
    Path site_ = folder_.path() / "site-packages";
};

TEST_F(InstalledTest, ListsWhatMetadataNames)
{
    add("torch_like-2.5.0+cu124.dist-info");
    add("Old.Style-1.0-py3.11.egg-info");
    add("developed.egg-info", "PKG-INFO", "Metadata-Version: 2.1\nName: developed\nVersion: 0.3\n");
    add("mine-0.1.dist-info",
        "direct_url.json",
        R"({"url":"file:///srv/mine","dir_info":{"editable":true}})");
    add("forked-1.2.dist-info",
        "direct_url.json",
        R"({"url":"https://user:token@git.example/f.git","vcs_info":{"vcs":"git","commit_id":"abc"}})");
    add("only_a_folder");
    const auto found = ask();
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(version_of(*found, "torch-like"), "2.5.0+cu124 ");
    EXPECT_EQ(version_of(*found, "old-style"), "1.0 ");
    EXPECT_EQ(version_of(*found, "developed"), "0.3 ");
    EXPECT_EQ(version_of(*found, "mine"), "0.1 editable+file:///srv/mine");
    EXPECT_THAT(version_of(*found, "forked"), HasSubstr("git.example/f.git@abc"));
    EXPECT_THAT(version_of(*found, "forked"), testing::Not(HasSubstr("token")));
    EXPECT_EQ(version_of(*found, "only-a-folder"), "(none)");
    EXPECT_EQ(found->program, "/usr/bin/python3");
    EXPECT_FALSE(found->prefix.empty());
}

TEST_F(InstalledTest, ChangesAreSeenAndNothingElseIsAskedAgain)
{
    add("one-1.0.dist-info");
    ASSERT_TRUE(ask());
    const auto notes = folder_.path() / "home" / "envs" / ".installed";
    const auto note = std::filesystem::directory_iterator(notes)->path();
    const auto written = std::filesystem::last_write_time(note);
    EXPECT_EQ(version_of(*ask(), "one"), "1.0 ");
    EXPECT_EQ(std::filesystem::last_write_time(note), written);

    std::filesystem::rename(site_ / "one-1.0.dist-info", site_ / "one-2.0.dist-info");
    EXPECT_EQ(version_of(*ask(), "one"), "2.0 ");

    ASSERT_TRUE(os::replace_file(note, "not JSON", 0600));
    EXPECT_EQ(version_of(*ask(), "one"), "2.0 ");
}

TEST_F(InstalledTest, WhatAListMayNotHoldIsLeftOut)
{
    const auto found = parse_installed(
        "python\t3.11.2\nprefix\t/usr\npip\tfine\t1.0\t\npip\t--evil\t1.0\t\npip\tx\t\"1\t\nend\n",
        "linux-64");
    ASSERT_TRUE(found);
    ASSERT_EQ(found->lock.packages.size(), 1U);
    EXPECT_EQ(found->lock.packages[0].name, "fine");
    EXPECT_FALSE(parse_installed("python\t3.11.2\npip\tfine\t1.0\t\n", "linux-64"));
}

TEST_F(InstalledTest, DifferencesAreNamed)
{
    const auto lock = [](std::string python, std::vector<LockedPackage> packages) {
        return Lock{
            .platform = "linux-64", .python = std::move(python), .packages = std::move(packages)};
    };
    const auto before =
        lock("3.11.2", {{.name = "numpy", .version = "1.24"}, {.name = "six", .version = "1"}});
    EXPECT_EQ(difference_between(before, before), "");
    EXPECT_EQ(difference_between(before,
                                 lock("3.12.1",
                                      {{.name = "numpy", .version = "2.4"},
                                       {.name = "scipy", .version = "1.14"}})),
              "Python 3.12.1 (before: 3.11.2), numpy 2.4 (before: 1.24), scipy 1.14 added, six 1 "
              "removed");
}

}  // namespace
}  // namespace ponk::environment
