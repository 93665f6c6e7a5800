// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"
#include "base/seal.hpp"

#include <gtest/gtest.h>

namespace ponk {
namespace {

const std::string key(seal_key_size, 'k');

TEST(Seal, OpensWithTheSameKeyAndContextOnly)
{
    const auto sealed = seal(key, "hunter2", "db password");

    EXPECT_EQ(open_sealed(key, sealed, "db password").value(), "hunter2");
    EXPECT_FALSE(open_sealed(std::string(seal_key_size, 'x'), sealed, "db password"));
    EXPECT_FALSE(open_sealed(key, sealed, "other"));
}

TEST(Seal, NoticesEveryChangedByte)
{
    const auto sealed = seal(key, "hunter2", "");

    for (std::size_t i = 0; i < sealed.size(); ++i) {
        auto changed = sealed;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(open_sealed(key, changed, "")) << i;
    }
    for (std::size_t size = 0; size < sealed.size(); ++size)
        EXPECT_FALSE(open_sealed(key, std::string_view(sealed).substr(0, size), "")) << size;
}

TEST(Seal, GivesOtherBytesEachTimeAndTakesAnything)
{
    const std::string any("\0\xff bytes", 8);

    EXPECT_NE(seal(key, any, ""), seal(key, any, ""));
    EXPECT_EQ(open_sealed(key, seal(key, any, ""), "").value(), any);
    EXPECT_EQ(open_sealed(key, seal(key, "", ""), "").value(), "");
}

}  // namespace
}  // namespace ponk
