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

    EXPECT_EQ(parsed("box"), (Address{"", "box"}));
    EXPECT_EQ(parsed("box:5022", "ann"), (Address{"ann", "box", 5022}));
    EXPECT_EQ(parsed("ann@box.example.org:22"), (Address{"ann", "box.example.org", 22}));
    EXPECT_EQ(parsed("ann@example.org@box"), (Address{"ann@example.org", "box"}));
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
                             "box;reboot",
                             "box$(x)",
                             "box`x`",
                             "box x",
                             "box\n",
                             "box/x",
                             "'box'",
                             "bo|x",
                             "@box",
                             "box:",
                             "box:0",
                             "box:65536",
                             "box:+5",
                             "box:2 2",
                             "[::1",
                             "[::1]5022",
                             "[box]:5022",
                             "-l@box",
                             "a;b@box",
                             "$USER@box",
                             ".box"}) {
        EXPECT_FALSE(parse_address(text)) << text;
    }
    EXPECT_FALSE(parse_address("box", "-l"));
    EXPECT_FALSE(parse_address("ann@box", "bob"));
}

TEST(SshAddress, ShowsItselfSoThatItReadsBack)
{
    for (const Address& address : {Address{"", "box"},
                                   Address{"ann", "box", 22},
                                   Address{"ann", "::1", 5022},
                                   Address{"", "::1"}}) {
        EXPECT_EQ(parse_address(address.text()).value(), address) << address.text();
    }
}

TEST(SshAddress, IdentityIsTheSameWhetherOrNotTheUsualPortIsSaid)
{
    EXPECT_EQ(parse_address("Box", "ann")->identity(), "ann@box:22");
    EXPECT_EQ(parse_address("box:22", "ann")->identity(), "ann@box:22");
}

}  // namespace
}  // namespace ponk::ssh
