// SPDX-License-Identifier: Apache-2.0
#include "ssh/host_key.hpp"

#include <gtest/gtest.h>

namespace ponk::ssh {
namespace {

constexpr const char* key_line =
    "[host]:5022 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1Z0wxQ3WkXn2yXlUZ3mCz3X7a0wYkTn9b8F4nYc2hB";

TEST(HostKeys, ReadsKnownHostsAndLeavesOutTheRest)
{
    const auto keys = parse_known_hosts(
        fmt::format("# Host host found: line 1\n{}  a comment\n\n@revoked * ssh-rsa AAAA\n"
                    "|1|c2FsdA==|aGFzaA== ssh-rsa AAAAB3NzaC1yc2E=\nbroken\nbox ssh-rsa !!!\n",
                    key_line));

    ASSERT_EQ(keys.size(), 2U);
    EXPECT_EQ(keys[0].name, "[host]:5022");
    EXPECT_EQ(keys[0].short_type(), "ED25519");
    EXPECT_EQ(keys[0].line, key_line);
    EXPECT_EQ(keys[0].fingerprint.size(), 50U);
    EXPECT_TRUE(keys[0].fingerprint.starts_with("SHA256:"));
    EXPECT_EQ(keys[1].short_type(), "RSA");
}

TEST(HostKeys, FingerprintIsWhatSshKeygenShows)
{
    // ssh-keygen -lf on this very line.
    EXPECT_EQ(parse_known_hosts(key_line).at(0).fingerprint,
              "SHA256:eL/iLWz6VRQB6LwlBRDsdsqJ3qr4n1wgrsXWOa/DuMc");
}

TEST(HostKeys, TakesFingerprintsAsPeopleCopyThem)
{
    const std::string good = "SHA256:" + std::string(42, 'a') + "A";
    EXPECT_EQ(parse_fingerprint(good), good);
    EXPECT_EQ(parse_fingerprint(" " + good + "=\n"), good);
    EXPECT_EQ(parse_fingerprint(good.substr(7)), good);
    EXPECT_FALSE(parse_fingerprint("MD5:00:11"));
    EXPECT_FALSE(parse_fingerprint(""));
    EXPECT_FALSE(parse_fingerprint("SHA256:short"));
}

}  // namespace
}  // namespace ponk::ssh
