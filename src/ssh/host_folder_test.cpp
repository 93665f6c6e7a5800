// SPDX-License-Identifier: Apache-2.0
#include "os/golden_test_support.hpp"
#include "os/test_folder.hpp"
#include "ssh/connection.hpp"
#include "ssh/failure.hpp"
#include "ssh/host_folder.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace ponk::ssh {
namespace {

TEST(HostFolder, IsNamedAfterTheDigestOfTheAddress)
{
    const HostFolder folder("/h", Address{"ann", "host", 5022});

    EXPECT_EQ(folder.path(), os::Path("/h/ssh") / folder.id());
    EXPECT_EQ(folder.id(), "ad59c30a312134c3");  // sha256("ann@host:5022")
    EXPECT_NE(folder.id(), HostFolder("/h", Address{"ann", "host"}).id());
}

TEST(HostFolder, KeepsSettingsForNobodyElse)
{
    const os::TestFolder home;
    const Settings settings{.address = {"ann", "host", 5022},
                            .identity = Identity::file,
                            .key_file = "/k/id",
                            .installed_key = "ssh-ed25519 AAAA ponk",
                            .targets = {"/p/aml_config/host.compute"}};
    const HostFolder folder(home.path(), settings.address);
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

TEST(HostFolder, SettingsHaveTheFormOfTheirDocument)
{
    const os::TestFolder home;
    const HostFolder folder(home.path(), Address{"ann", "host", 5022});
    ASSERT_TRUE(folder.make());
    ASSERT_TRUE(folder.write_settings({.address = {"ann", "host", 5022},
                                       .identity = Identity::own,
                                       .installed_key = "restrict ssh-ed25519 AAAA ponk of ann",
                                       .targets = {"/home/ann/mnist/aml_config/host.compute"}}));
    const os::Path golden = PONK_SOURCE_DIR "/tests/golden/ssh-settings.json";
    const auto text = os::read_file(folder.settings_file()).value_or("");
    os::expect_golden(golden, text);  // docs/design/ssh.md
}

// Neither the folder, nor a log of a connection in it, nor a host key is a login.
TEST(HostFolder, OnlyWhatTheUserAttachedIsContacted)
{
    const os::TestFolder home;
    const Address address{"ann", "host.example", 5022};
    const HostFolder folder(home.path(), address);
    EXPECT_FALSE(folder.is_attached());
    ASSERT_TRUE(folder.make());
    ASSERT_TRUE(os::replace_file(folder.path() / "master.log", "x"));
    ASSERT_TRUE(os::replace_file(folder.known_hosts(), "x"));

    // Where it would be contacted there is no ssh: a refusal comes before anything is started.
    const Access access{home.path(), address, {"PATH=/nonexistent"}};
    const auto refused = Connection::make(access);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(),
              "you never attached 'ann@host.example:5022', so it is not contacted");
    EXPECT_EQ(name_target(refused.error(), "host").hint(),
              "If that is a machine of yours, run: ponk attach --from aml_config/host.compute");

    ASSERT_TRUE(folder.write_settings({.address = address}));
    EXPECT_TRUE(folder.is_attached());
    EXPECT_TRUE(Connection::make(access));
    ASSERT_TRUE(os::remove_tree(folder.path()));
    EXPECT_FALSE(Connection::make(access));
    EXPECT_FALSE(folder.exists());
    ASSERT_TRUE(folder.make());
    ASSERT_TRUE(os::replace_file(folder.key(), "x"));
    EXPECT_TRUE(Connection::make(access));
    EXPECT_FALSE(require_attached(home.path(), Address{"bob", "host.example", 5022}));
}

TEST(HostFolder, DamagedSettingsAreNamed)
{
    const os::TestFolder home;
    const HostFolder folder(home.path(), Address{"ann", "host"});
    ASSERT_TRUE(folder.make());

    ASSERT_TRUE(os::replace_file(folder.settings_file(), R"({"identity": "nobody"})"));

    EXPECT_NE(folder.read_settings().error().message().find("settings.json"), std::string::npos);
}

}  // namespace
}  // namespace ponk::ssh
