// SPDX-License-Identifier: Apache-2.0
#include "os/file_lock.hpp"
#include "os/unnamed_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>

namespace ponk::os {
namespace {

class Locks : public testing::Test {
protected:
    void SetUp() override { folder_ = *make_temporary_directory("/tmp", "ponk-lock-"); }
    void TearDown() override { static_cast<void>(remove_tree(folder_)); }
    Path folder_;
};

TEST_F(Locks, SharedHoldersKeepAnExclusiveOneOut)
{
    const auto path = folder_ / "lock";

    const auto first = FileLock::try_take(path, FileLock::Kind::shared);
    auto second = FileLock::try_take(path, FileLock::Kind::shared);
    const auto third = FileLock::try_take(path, FileLock::Kind::exclusive);

    ASSERT_TRUE(first && second && third);
    EXPECT_TRUE(first->has_value());
    EXPECT_TRUE(second->has_value());
    EXPECT_FALSE(third->has_value());
}

TEST_F(Locks, WaitingForAHeldLockEndsAtTheDeadlineWithItsName)
{
    const auto path = folder_ / "lock";
    const auto held = FileLock::try_take(path, FileLock::Kind::exclusive);

    const auto waited =
        FileLock::take(path, FileLock::Kind::shared, after(std::chrono::milliseconds(5)), {});

    ASSERT_FALSE(waited);
    EXPECT_EQ(waited.error().kind(), ErrorKind::timeout);
    EXPECT_NE(waited.error().message().find(path.native()), std::string::npos);
}

class UnnamedFiles : public Locks, public testing::WithParamInterface<UnnamedFile::Way> {};

TEST_P(UnnamedFiles, AreSeenOnlyOnceLinkedAndNeverReplaceAFile)
{
    const auto folder = *open_file(folder_, O_RDONLY | O_DIRECTORY);
    {
        auto file = UnnamedFile::create(folder.get(), 0444, GetParam());
        ASSERT_TRUE(file);
        ASSERT_TRUE(write_all(file->fd(), "first"));
        EXPECT_FALSE(read_file(folder_ / "name"));
        EXPECT_EQ(file->link_as("name").value(), UnnamedFile::Outcome::created);
    }
    {
        auto file = UnnamedFile::create(folder.get(), 0444, GetParam());
        ASSERT_TRUE(write_all(file->fd(), "second"));
        EXPECT_EQ(file->link_as("name").value(), UnnamedFile::Outcome::already_there);
    }

    EXPECT_EQ(read_file(folder_ / "name").value(), "first");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

INSTANTIATE_TEST_SUITE_P(BothWays,
                         UnnamedFiles,
                         testing::Values(UnnamedFile::Way::unnamed,
                                         UnnamedFile::Way::temporary_name));

}  // namespace
}  // namespace ponk::os
