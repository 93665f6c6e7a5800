// SPDX-License-Identifier: Apache-2.0
#include "os/private_folder.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

namespace ponk::os {
namespace {

class PrivateFolder : public testing::Test {
protected:
    PrivateFolder() { ::mkdir(folder_.c_str(), 0700); }
    void allow(mode_t mode) const { ASSERT_EQ(::chmod(folder_.c_str(), mode), 0); }

    TestFolder place_;
    Path folder_ = place_.path() / "home";
};

TEST_F(PrivateFolder, OursAloneOrAbsentIsFine)
{
    EXPECT_TRUE(check_private(folder_));
    EXPECT_TRUE(check_private(place_.path() / "nowhere"));
    allow(0755);
    EXPECT_TRUE(check_private(folder_));
    EXPECT_TRUE(check_private("/")) << "root's own";
}

TEST_F(PrivateFolder, WhatEverybodyMayWriteToIsRefusedWithTheCommand)
{
    for (const mode_t mode : {0777U, 01777U, 0702U}) {
        allow(mode);
        const auto checked = check_private(folder_);
        ASSERT_FALSE(checked) << mode;
        EXPECT_EQ(checked.error().kind(), ErrorKind::conflict);
        EXPECT_NE(checked.error().message().find(folder_.native()), std::string::npos);
        EXPECT_NE(checked.error().hint().find("chmod go-w '" + folder_.native() + "'"),
                  std::string::npos);
    }
}

TEST_F(PrivateFolder, AGroupOfOthersMayNotWrite)
{
    if (::geteuid() != 0) GTEST_SKIP() << "giving a folder to another group needs root";
    ASSERT_EQ(::chown(folder_.c_str(), 0, 12345), 0);
    allow(0770);

    EXPECT_FALSE(check_private(folder_));
}

TEST_F(PrivateFolder, OfAnotherUserIsRefusedForRootToo)
{
    if (::geteuid() != 0) GTEST_SKIP() << "giving a folder away needs root";
    const auto link = place_.path() / "link";
    ASSERT_EQ(::symlink(folder_.c_str(), link.c_str()), 0);
    ASSERT_EQ(::lchown(link.c_str(), 12345, 12345), 0);
    EXPECT_FALSE(check_private(link)) << "whoever owns a link leads us";
    ASSERT_EQ(::chown(folder_.c_str(), 12345, 12345), 0);

    const auto checked = check_private(folder_);

    ASSERT_FALSE(checked);
    EXPECT_NE(checked.error().message().find("uid 12345"), std::string::npos);
    EXPECT_NE(checked.error().hint().find("chown -R"), std::string::npos);
}

}  // namespace
}  // namespace ponk::os
