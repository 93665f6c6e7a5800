// SPDX-License-Identifier: Apache-2.0
#include "os/contained_path.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

namespace ponk::os {
namespace {

TEST(ContainedPath, FollowsWhatStaysInsideAndNothingElse)
{
    const TestFolder folder;
    const auto root = folder.path() / "project";
    ASSERT_TRUE(make_directories(root / "sub"));
    ASSERT_TRUE(make_directories(folder.path() / "thesis"));
    ASSERT_TRUE(replace_file(root / "sub/wheel", "x"));
    ASSERT_TRUE(replace_file(folder.path() / "thesis/secret", "x"));
    std::filesystem::create_symlink("sub/wheel", root / "inner");
    std::filesystem::create_symlink("../thesis", root / "sub/out");
    std::filesystem::create_symlink("nowhere", root / "dangling");
    std::filesystem::create_directory_symlink(root, folder.path() / "link");

    for (const char* good : {"sub/wheel", "./sub/../sub/wheel", "inner", ".", "sub/"})
        EXPECT_TRUE(contained_path(root, good)) << good;
    EXPECT_EQ(contained_path(root, "./sub/../inner").value(), root / "inner");
    EXPECT_TRUE(contained_path(folder.path() / "link", "sub/wheel"));
    EXPECT_TRUE(contained_path(root, root / "sub/wheel"));
    for (const Path& bad : {Path("../thesis"),
                            Path("sub/../../thesis/secret"),
                            Path("sub/../../../../../../../../etc/passwd"),
                            Path("/etc/passwd"),
                            folder.path() / "thesis"}) {
        const auto found = contained_path(root, bad);
        ASSERT_FALSE(found) << bad;
        EXPECT_EQ(found.error().kind(), ErrorKind::invalid_argument) << bad;
    }
    std::filesystem::remove(root / "sub/out");
    std::filesystem::create_symlink("../../thesis", root / "sub/out");
    for (const char* bad : {"sub/out", "sub/out/secret"}) {
        const auto found = contained_path(root, bad);
        ASSERT_FALSE(found) << bad;
        EXPECT_NE(found.error().message().find("thesis"), std::string::npos);
    }
    for (const char* absent : {"missing", "dangling"})
        EXPECT_EQ(contained_path(root, absent).error().kind(), ErrorKind::not_found) << absent;
}

}  // namespace
}  // namespace ponk::os
