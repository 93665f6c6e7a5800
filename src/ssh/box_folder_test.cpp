// SPDX-License-Identifier: Apache-2.0
#include "os/test_folder.hpp"
#include "ssh/box_folder.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace ponk::ssh {
namespace {

TEST(BoxFolder, IsNamedAfterTheDigestOfTheAddress)
{
    const BoxFolder folder("/h", Address{"ann", "box", 5022});

    EXPECT_EQ(folder.path(), os::Path("/h/ssh") / folder.id());
    EXPECT_EQ(folder.id(), "9fed15d9cbf0d21e");  // sha256("ann@box:5022")
    EXPECT_NE(folder.id(), BoxFolder("/h", Address{"ann", "box"}).id());
}

TEST(BoxFolder, KeepsSettingsForNobodyElse)
{
    const os::TestFolder home;
    const Settings settings{.address = {"ann", "box", 5022},
                            .identity = Identity::file,
                            .key_file = "/k/id",
                            .installed_key = "ssh-ed25519 AAAA ponk"};
    const BoxFolder folder(home.path(), settings.address);
    ASSERT_TRUE(folder.make());
    ASSERT_FALSE(folder.read_settings().value());

    ASSERT_TRUE(folder.write_settings(settings));

    EXPECT_EQ(folder.read_settings().value(), settings);
    struct stat info {};
    ASSERT_EQ(::stat(folder.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0700U);
    ASSERT_EQ(::stat(folder.settings_file().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST(BoxFolder, DamagedSettingsAreNamed)
{
    const os::TestFolder home;
    const BoxFolder folder(home.path(), Address{"ann", "box"});
    ASSERT_TRUE(folder.make());

    ASSERT_TRUE(os::replace_file(folder.settings_file(), R"({"identity": "nobody"})"));

    EXPECT_NE(folder.read_settings().error().message().find("settings.json"), std::string::npos);
}

}  // namespace
}  // namespace ponk::ssh
