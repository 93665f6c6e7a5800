// SPDX-License-Identifier: Apache-2.0
#include "os/test_folder.hpp"
#include "ssh/client.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ponk::ssh {
namespace {

TEST(SshClient, KnowsWhatAVersionUnderstands)
{
    for (const char* version : {"OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.22",
                                "OpenSSH_8.7p1, OpenSSL 3.0.1",
                                "OpenSSH_10.0p2, OpenSSL 3.5.0"})
        EXPECT_EQ(dialect_of(version), Dialect::with_sessions) << version;
    for (const char* version : {"OpenSSH_8.6p1, LibreSSL 2.8.3",
                                "OpenSSH_7.4p1, OpenSSL 1.0.2k-fips",
                                "OpenSSH_for_Windows_8.1p1",
                                "OpenSSH_",
                                "OpenSSH_9",
                                "Sun_SSH_1.1.5",
                                ""})
        EXPECT_EQ(dialect_of(version), Dialect::plain) << version;
}

TEST(SshClient, SaysOnlyWordsThatTheVersionUnderstands)
{
    const os::TestFolder home;
    const Access access{.home = home.path(), .address = {"ann", "host", 22}, .environment = {}};
    Client client(access, Settings{.address = access.address, .identity = Identity::own});
    const auto has = [&](const std::string& word) {
        const auto argv = client.command({"-N"}).argv;
        return std::ranges::find(argv, word) != argv.end();
    };

    EXPECT_FALSE(has("StdinNull=no"));
    client.use_dialect(Dialect::with_sessions);
    EXPECT_TRUE(has("StdinNull=no"));
    EXPECT_TRUE(has("SessionType=default"));
    EXPECT_TRUE(has("PubkeyAuthentication=yes"));
}

}  // namespace
}  // namespace ponk::ssh
