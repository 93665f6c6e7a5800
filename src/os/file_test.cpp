// SPDX-License-Identifier: Apache-2.0
#include "os/file.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::os {
namespace {

class Files : public testing::Test {
protected:
    Files() : root_(*make_temporary_directory(testing::TempDir(), "ponk-file-")) {}
    ~Files() override { static_cast<void>(remove_tree(root_)); }
    Path root_;
};

TEST_F(Files, ReplaceIsCompleteAndKeepsTheMode)
{
    const auto path = root_ / "a";

    ASSERT_TRUE(replace_file(path, "one", 0640));
    ASSERT_TRUE(replace_file(path, "two", 0600));

    EXPECT_EQ(*read_file(path), "two");
    struct stat info {};
    ::stat(path.c_str(), &info);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root_), {}), 1);
}

TEST_F(Files, HolesAreToldFromWhatWasWritten)
{
    // In memory, where every kernel knows of holes.
    const Fd file(::memfd_create("sparse", MFD_CLOEXEC));
    ASSERT_TRUE(file);
    constexpr std::uint64_t hole = std::uint64_t{1} << 20;
    ASSERT_TRUE(write_all(file.get(), std::string(4096, 'a')));
    ASSERT_EQ(::pwrite(file.get(), "b", 1, 4096 + hole), 1);
    ASSERT_EQ(::ftruncate(file.get(), 4096 + 3 * hole), 0);
    const std::uint64_t end = 4096 + 3 * hole;
    EXPECT_EQ(data_from(file.get(), 0, end), 0U);
    EXPECT_EQ(hole_from(file.get(), 0, end), 4096U);
    EXPECT_EQ(data_from(file.get(), 5000, end), 4096 + hole);
    EXPECT_EQ(data_from(file.get(), 2 * hole, end), end);
    EXPECT_EQ(data_from(file.get(), end, end), end);
}

TEST_F(Files, PublishNeverOverwrites)
{
    const auto path = root_ / "exit";

    ASSERT_TRUE(publish_file(path, "first"));
    const auto again = publish_file(path, "second");

    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind(), ErrorKind::conflict);
    EXPECT_EQ(*read_file(path), "first");
}

TEST_F(Files, ReadHasALimitAndTellsAbsence)
{
    ASSERT_TRUE(replace_file(root_ / "big", std::string(100, 'x')));

    EXPECT_EQ(read_file(root_ / "big", 99).error().kind(), ErrorKind::invalid_argument);
    EXPECT_EQ(read_file(root_ / "none").error().kind(), ErrorKind::not_found);
    EXPECT_FALSE(read_file_if_any(root_ / "none")->has_value());
}

TEST_F(Files, AFifoInAFilesPlaceMakesNobodyWait)
{
    ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0600), 0);
    std::filesystem::create_symlink("/etc/passwd", root_ / "link");

    EXPECT_EQ(read_file(root_ / "fifo").error().kind(), ErrorKind::invalid_argument);
    EXPECT_FALSE(open_regular(root_ / "link", Links::refuse));
    EXPECT_TRUE(open_regular(root_ / "link"));
}

TEST_F(Files, RemoveTreeDoesNotFollowLinks)
{
    ASSERT_TRUE(make_directories(root_ / "keep"));
    ASSERT_TRUE(replace_file(root_ / "keep" / "file", "x"));
    ASSERT_TRUE(make_directories(root_ / "gone" / "deep"));
    std::filesystem::create_symlink(root_ / "keep", root_ / "gone" / "deep" / "link");
    ::chmod((root_ / "gone" / "deep").c_str(), 0);

    ASSERT_TRUE(remove_tree(root_ / "gone"));

    EXPECT_FALSE(std::filesystem::exists(root_ / "gone"));
    EXPECT_TRUE(std::filesystem::exists(root_ / "keep" / "file"));
}

}  // namespace
}  // namespace ponk::os
