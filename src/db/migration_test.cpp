// SPDX-License-Identifier: Apache-2.0
#include "db/database.hpp"
#include "db/migration.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::db {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::string_view first = "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)";
constexpr std::string_view second = "ALTER TABLE note ADD COLUMN author TEXT DEFAULT 'ann'";
constexpr std::string_view broken = "ALTER TABLE note ADD COLUMN year; CREATE TABLE note(x)";

class MigrationTest : public testing::Test {
protected:
    [[nodiscard]] Result<std::unique_ptr<Database>> open(std::vector<std::string_view> migrations,
                                                         std::int32_t application = 77) const
    {
        return Database::open(
            {.folder = folder_, .name = "test", .schema = {application, std::move(migrations)}});
    }
    [[nodiscard]] std::vector<Path> backups() const
    {
        return BackupFolder(folder_ / "backups", "test").list().value();
    }
    static std::int64_t ask(Database& database, std::string_view sql)
    {
        return database.read([&](Connection& reader) { return reader.query_integer(sql); }).value();
    }
    void fill() const
    {
        auto database = open({first}).value();
        const auto added = database->write(Durability::disk, [](Connection& writer) {
            return writer.execute("INSERT INTO note(text) VALUES('kept')");
        });
        ASSERT_TRUE(added);
    }

    os::TestFolder place_;
    Path folder_ = place_.path();
};

TEST_F(MigrationTest, BringsAFileForwardAndBacksItUpBefore)
{
    fill();

    auto database = open({first, second}).value();

    EXPECT_EQ(ask(*database, "PRAGMA user_version"), 2);
    EXPECT_EQ(ask(*database, "SELECT count(*) FROM note WHERE author = 'ann' AND text = 'kept'"),
              1);
    ASSERT_THAT(backups(), SizeIs(1));
    auto backup = Connection::open(backups()[0], Role::reader).value();
    EXPECT_EQ(backup->query_integer("PRAGMA user_version").value(), 1);
    EXPECT_EQ(backup->query_integer("SELECT count(*) FROM note").value(), 1);
}

TEST_F(MigrationTest, ANewFileNeedsNoBackup)
{
    auto database = open({first, second}).value();

    EXPECT_TRUE(database->opening().outcome == Database::Outcome::created);
    EXPECT_EQ(ask(*database, "PRAGMA application_id"), 77);
    EXPECT_THAT(backups(), SizeIs(0));
}

TEST_F(MigrationTest, AStepThatFailsChangesNothing)
{
    fill();

    const auto failed = open({first, broken});

    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().message(), HasSubstr("bring the database to version 2"));
    auto database = open({first}).value();
    EXPECT_EQ(ask(*database, "PRAGMA user_version"), 1);
    EXPECT_EQ(ask(*database, "SELECT count(*) FROM pragma_table_info('note')"), 2);
}

TEST_F(MigrationTest, RefusesAFileOfANewerVersionAndLeavesIt)
{
    open({first, second}).value().reset();

    const auto refused = open({first});

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::unavailable);
    EXPECT_THAT(refused.error().message(),
                HasSubstr("test.db' has version 2, but this ponk supports versions up to 1"));
    EXPECT_TRUE(open({first, second}));
}

TEST_F(MigrationTest, RefusesAFileOfAnotherProgram)
{
    open({first}, 78).value().reset();

    const auto refused = open({first});

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::conflict);
    EXPECT_THAT(refused.error().message(), HasSubstr("of another program"));
}

}  // namespace
}  // namespace ponk::db
