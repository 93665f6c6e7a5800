// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"
#include "base/text.hpp"

#include <gtest/gtest.h>

namespace ponk {
namespace {

TEST(Hash, Sha256KnowsItsTestVector)
{
    EXPECT_EQ(sha256("abc").text(),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, IncrementalEqualsWhole)
{
    Sha256 hash;
    hash.update("a");
    hash.update("bc");
    EXPECT_EQ(hash.finish(), sha256("abc"));
    EXPECT_EQ(hash.finish(), sha256(""));
}

TEST(Hash, DigestRoundTrip)
{
    Digest digest;
    EXPECT_TRUE(parse_digest(sha256("x").text(), digest));
    EXPECT_EQ(digest, sha256("x"));
    EXPECT_FALSE(parse_digest("12", digest));
}

TEST(Hash, Crc32cKnowsItsTestVector)
{
    EXPECT_EQ(crc32("123456789"), 0xcbf43926U);
    EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
    EXPECT_EQ(crc32c("6789", crc32c("12345")), 0xe3069283U);
}

TEST(Sha1, MatchesThePublishedExample)
{
    const auto digest = sha1("abc");

    EXPECT_EQ(to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()}),
              "a9993e364706816aba3e25717850c26c9cd0d89d");
}

}  // namespace
}  // namespace ponk
