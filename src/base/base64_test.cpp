// SPDX-License-Identifier: Apache-2.0
#include "base/base64.hpp"

#include <gtest/gtest.h>

namespace ponk {
namespace {

TEST(Base64, TheVectorsOfTheStandard)
{
    const std::pair<const char*, const char*> rows[] = {{"", ""},
                                                        {"f", "Zg=="},
                                                        {"fo", "Zm8="},
                                                        {"foo", "Zm9v"},
                                                        {"foob", "Zm9vYg=="},
                                                        {"fooba", "Zm9vYmE="},
                                                        {"foobar", "Zm9vYmFy"}};
    for (const auto& [bytes, text] : rows) {
        EXPECT_EQ(to_base64(bytes), text);
        EXPECT_EQ(from_base64(text), bytes);
    }
}

TEST(Base64, BothAlphabetsAreRead)
{
    EXPECT_EQ(to_base64("\xfb\xff\xfe"), "+//+");
    EXPECT_EQ(to_base64("\xfb\xff\xfe", Base64::url), "-__-");
    EXPECT_EQ(from_base64("+//+"), "\xfb\xff\xfe");
    EXPECT_EQ(from_base64("-__-"), "\xfb\xff\xfe");
    EXPECT_EQ(from_base64("Zg"), "f") << "padding may be missing";
}

TEST(Base64, OtherTextIsRefused)
{
    for (const auto* text : {"A", "AAAAA", "Zg=a", "Z g=", "\xff\xff\xff\xff"})
        EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ponk
