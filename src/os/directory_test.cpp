// SPDX-License-Identifier: Apache-2.0
#include "os/directory.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>

namespace ponk::os {
namespace {

using Opener = Result<Fd> (*)(int, const Path&, int, mode_t);

// Both ways of opening keep the same contract.
class OpenBeneath : public testing::TestWithParam<Opener> {
protected:
    OpenBeneath() : root_(*make_temporary_directory(testing::TempDir(), "ponk-open-"))
    {
        std::filesystem::create_directories(root_ / "in" / "deep");
        static_cast<void>(replace_file(root_ / "in" / "deep" / "file", "x"));
        static_cast<void>(replace_file(root_ / "secret", "s"));
        std::filesystem::create_symlink(root_, root_ / "in" / "out");
        std::filesystem::create_symlink("file", root_ / "in" / "deep" / "link");
        folder_ = *open_file(root_ / "in", O_RDONLY | O_DIRECTORY);
    }
    ~OpenBeneath() override { static_cast<void>(remove_tree(root_)); }

    Path root_;
    Fd folder_;
};

TEST_P(OpenBeneath, OpensWhatIsInside)
{
    EXPECT_TRUE(GetParam()(folder_.get(), "deep/file", O_RDONLY, 0));
    EXPECT_TRUE(GetParam()(folder_.get(), "deep/new", O_WRONLY | O_CREAT, 0600));
}

TEST_P(OpenBeneath, OpensFolders)
{
    EXPECT_TRUE(GetParam()(folder_.get(), ".", O_RDONLY | O_DIRECTORY, 0600));
    EXPECT_TRUE(GetParam()(folder_.get(), "deep", O_RDONLY | O_DIRECTORY, 0600));
}

TEST_P(OpenBeneath, RefusesEveryWayOut)
{
    for (const char* path :
         {"../secret", "deep/../../secret", "/etc/passwd", "out/secret", "deep/link", ""}) {
        const auto opened = GetParam()(folder_.get(), path, O_RDONLY, 0);
        ASSERT_FALSE(opened) << path;
        EXPECT_EQ(opened.error().kind(), ErrorKind::invalid_argument) << path;
    }
}

INSTANTIATE_TEST_SUITE_P(Both, OpenBeneath, testing::Values(&open_beneath, &open_beneath_by_steps));

using OpenInRoot = OpenBeneath;

TEST_F(OpenInRoot, LinksAndDotsStayInside)
{
    std::filesystem::create_symlink("/deep/file", root_ / "in" / "absolute");
    std::filesystem::create_symlink("../../secret", root_ / "in" / "deep" / "up");
    for (const char* path : {"deep/file", "/deep/file", "deep/link", "absolute", "../deep/file"})
        EXPECT_EQ(read_in_root(folder_.get(), path, 10).value_or("none"), "x") << path;
    for (const char* path : {"out/secret", "deep/up", "../secret", "/etc/passwd", "", "deep"})
        EXPECT_FALSE(read_in_root(folder_.get(), path, 1 << 20)) << path;
    EXPECT_FALSE(read_in_root(folder_.get(), "deep/file", 0));
}

}  // namespace
}  // namespace ponk::os
