// SPDX-License-Identifier: Apache-2.0
#include "ssh/key_pair.hpp"

#include <gtest/gtest.h>

namespace ponk::ssh {
namespace {

TEST(KeyPair, PublicHalfIsToldFromThePrivateOne)
{
    EXPECT_TRUE(is_public_key("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ann@host\n"));
    EXPECT_TRUE(is_public_key("ssh-rsa AAAAB3NzaC1yc2E="));
    EXPECT_TRUE(is_public_key("sk-ssh-ed25519@openssh.com AAAAGnNr\n"));
    EXPECT_TRUE(is_public_key("ecdsa-sha2-nistp256 AAAAE2Vj\n"));
    EXPECT_TRUE(is_public_key("---- BEGIN SSH2 PUBLIC KEY ----\n"));
    EXPECT_FALSE(is_public_key("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n"));
    EXPECT_FALSE(is_public_key("ssh-notes of mine\n"));
    EXPECT_FALSE(is_public_key(""));
}

}  // namespace
}  // namespace ponk::ssh
