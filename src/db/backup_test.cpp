// SPDX-License-Identifier: Apache-2.0
#include "db/backup.hpp"
#include "db/connection.hpp"
#include "os/directory.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::db {
namespace {

class BackupTest : public testing::Test {
protected:
    os::TestFolder place_;
    Path folder_ = place_.path();
    std::unique_ptr<Connection> writer_ =
        Connection::open(folder_ / "test.db", Role::writer).value();
};

TEST_F(BackupTest, IsOneFileWithEverythingThatWasCommitted)
{
    ASSERT_TRUE(writer_->execute("CREATE TABLE t(x); INSERT INTO t VALUES(7)"));

    ASSERT_TRUE(copy_database(*writer_, folder_ / "copy.db"));

    ASSERT_TRUE(writer_->execute("INSERT INTO t VALUES(8)"));
    auto copy = Connection::open(folder_ / "copy.db", Role::reader).value();
    EXPECT_EQ(copy->query_integer("SELECT sum(x) FROM t").value(), 7);
    const auto entries = os::list_directory(folder_).value();
    for (const auto& entry : entries)
        EXPECT_FALSE(entry.name.starts_with(".copy")) << entry.name;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "copy.db-wal"));
}

TEST_F(BackupTest, ReplacesNothing)
{
    ASSERT_TRUE(os::replace_file(folder_ / "precious", "keep me"));

    const auto refused = copy_database(*writer_, folder_ / "precious");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::conflict);
    EXPECT_EQ(os::read_file(folder_ / "precious").value(), "keep me");
}

TEST_F(BackupTest, KeepsTheNewest)
{
    const BackupFolder backups(folder_ / "backups", "test");
    ASSERT_TRUE(os::make_directories(folder_ / "backups"));
    for (const auto* name : {"test-1.db", "test-2.db", "test-3.db", "other-1.db"})
        ASSERT_TRUE(os::replace_file(folder_ / "backups" / name, "x"));

    ASSERT_TRUE(backups.keep_newest(2));

    EXPECT_THAT(backups.list().value(),
                testing::ElementsAre(folder_ / "backups/test-3.db", folder_ / "backups/test-2.db"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "backups/other-1.db"));
}

TEST_F(BackupTest, AQuickCheckEndsWhenItsTimeIsOver)
{
    ASSERT_TRUE(writer_->execute("CREATE TABLE t(x)"));
    EXPECT_EQ(quick_check(*writer_, std::chrono::seconds(10)).value(), Checked::entirely);
    ASSERT_TRUE(writer_->execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                                 " WHERE i < 20000) INSERT INTO t SELECT i FROM n"));

    EXPECT_EQ(quick_check(*writer_, std::chrono::milliseconds(-1)).value(), Checked::in_part);
    // Being interrupted is no failure of the disk.
    EXPECT_FALSE(writer_->final_failure());
}

TEST_F(BackupTest, TheNewestIsTheLastOneMadeWhateverTheClockSays)
{
    const BackupFolder backups(folder_ / "backups", "test");
    ASSERT_TRUE(backups.add(*writer_));
    ASSERT_EQ(::rename(backups.list()->front().c_str(),
                       (folder_ / "backups/test-20990101T000000.000Z.db").c_str()),
              0);

    const auto made = backups.add(*writer_);

    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(backups.list()->front(), *made);
    ASSERT_TRUE(backups.keep_newest(1));
    EXPECT_EQ(*backups.list(), std::vector<Path>{*made});
}

}  // namespace
}  // namespace ponk::db
