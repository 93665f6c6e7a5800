// SPDX-License-Identifier: Apache-2.0
#include "ssh/address.hpp"

#include <gtest/gtest.h>

namespace ponk::ssh {
namespace {

TEST(SshAddress, ReadsEveryFormThatTheFilesHave)
{
    const auto parsed = [](const char* text, const char* user = "") {
        return parse_address(text, user).value();
    };

    EXPECT_EQ(parsed("host"), (Address{"", "host"}));
    EXPECT_EQ(parsed("host:5022", "ann"), (Address{"ann", "host", 5022}));
    EXPECT_EQ(parsed("ann@host.example.org:22"), (Address{"ann", "host.example.org", 22}));
    EXPECT_EQ(parsed("ann@example.org@host"), (Address{"ann@example.org", "host"}));
    EXPECT_EQ(parsed("10.0.0.7"), (Address{"", "10.0.0.7"}));
    EXPECT_EQ(parsed("::1"), (Address{"", "::1"}));
    EXPECT_EQ(parsed("[fe80::1%eth0]:2222"), (Address{"", "fe80::1%eth0", 2222}));
    EXPECT_EQ(parsed("[::1]"), (Address{"", "::1"}));
}

TEST(SshAddress, RefusesWhatCouldMeanSomethingElseToAShellOrToSsh)
{
    for (const char* text : {"",
                             "-oProxyCommand=x",
                             "ann@-oProxyCommand=x",
                             "host;reboot",
                             "host$(x)",
                             "host`x`",
                             "host x",
                             "host\n",
                             "agent/x",
                             "'host'",
                             "bo|x",
                             "@host",
                             "host:",
                             "host:0",
                             "host:65536",
                             "host:+5",
                             "host:2 2",
                             "[::1",
                             "[::1]5022",
                             "[host]:5022",
                             "-l@host",
                             "a;b@host",
                             "$USER@host",
                             ".host"}) {
        EXPECT_FALSE(parse_address(text)) << text;
    }
    EXPECT_FALSE(parse_address("host", "-l"));
    EXPECT_FALSE(parse_address("ann@host", "bob"));
}

TEST(SshAddress, ShowsItselfSoThatItReadsBack)
{
    for (const Address& address : {Address{"", "host"},
                                   Address{"ann", "host", 22},
                                   Address{"ann", "::1", 5022},
                                   Address{"", "::1"}}) {
        EXPECT_EQ(parse_address(address.text()).value(), address) << address.text();
    }
}

TEST(SshAddress, IdentityIsTheSameWhetherOrNotTheUsualPortIsSaid)
{
    EXPECT_EQ(parse_address("Host", "ann")->identity(), "ann@host:22");
    EXPECT_EQ(parse_address("host:22", "ann")->identity(), "ann@host:22");
}

}  // namespace
}  // namespace ponk::ssh
