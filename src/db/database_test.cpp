// SPDX-License-Identifier: Apache-2.0
#include "db/database.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ponk::db {
namespace {

using testing::HasSubstr;
using Outcome = Database::Outcome;

constexpr std::string_view table = "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL)";

class DatabaseTest : public testing::Test {
protected:
    [[nodiscard]] Result<std::unique_ptr<Database>> open() const
    {
        return Database::open({.folder = folder_, .name = "test", .schema = {77, {table}}});
    }
    static Result<> add(Database& database, const std::string& text)
    {
        return database.write(Durability::disk, [&](Connection& writer) -> Result<> {
            auto insert = TRY(writer.prepare("INSERT INTO note(text) VALUES(?)"));
            return insert.bind(text).run();
        });
    }
    static std::int64_t count(const Database& database)
    {
        return database
            .read([](Connection& reader) {
                return reader.query_integer("SELECT count(*) FROM note");
            })
            .value();
    }
    void fill(int notes) const
    {
        auto database = open().value();
        for (int i = 0; i < notes; ++i)
            ASSERT_TRUE(add(*database, std::string(1000, 'x')));
    }
    // As a killed process leaves it.
    void mark_unclean() const { ASSERT_TRUE(os::replace_file(folder_ / "test.lock", "123\n")); }
    void overwrite(off_t offset, std::size_t size) const
    {
        const auto file = os::open_file(folder_ / "test.db", O_RDWR).value();
        const std::string noise(size, '\x5a');
        ASSERT_EQ(::pwrite(file.get(), noise.data(), size, offset), static_cast<ssize_t>(size));
    }

    os::TestFolder place_;
    Path folder_ = place_.path();
};

TEST_F(DatabaseTest, ASecondProcessIsToldWhoHasIt)
{
    auto database = open().value();

    const pid_t child = ::fork();
    if (child == 0) {
        const auto second = open();
        const auto expected = fmt::format("process {} has the database open", ::getppid());
        const bool told = !second && second.error().kind() == ErrorKind::conflict &&
                          second.error().message().find(expected) != std::string::npos &&
                          second.error().hint().find("ponk daemon stop") != std::string::npos;
        ::_exit(told ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);

    EXPECT_EQ(status, 0);
    EXPECT_TRUE(add(*database, "still writing"));
}

TEST_F(DatabaseTest, KnowsWhetherItWasClosed)
{
    open().value().reset();
    EXPECT_TRUE(open().value()->opening().clean_stop);
    const pid_t child = ::fork();
    if (child == 0) {
        auto database = open();
        ::_exit(database && add(**database, "before the end") ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);

    auto database = open().value();

    EXPECT_FALSE(database->opening().clean_stop);
    EXPECT_TRUE(database->opening().outcome == Outcome::opened);
    EXPECT_EQ(count(*database), 1);
}

TEST_F(DatabaseTest, AFileThatIsNoDatabaseIsKeptAndReplacedByAnEmptyOne)
{
    fill(3);
    overwrite(0, 100);

    auto database = open().value();

    EXPECT_TRUE(database->opening().outcome == Outcome::emptied);
    EXPECT_THAT(database->opening().notice, HasSubstr("there is no intact backup"));
    EXPECT_EQ(count(*database), 0);
    EXPECT_TRUE(std::filesystem::exists(database->opening().set_aside));
    EXPECT_TRUE(add(*database, "works"));
}

TEST_F(DatabaseTest, DamageInsideIsFoundAfterAKillAndTheNewestBackupIsUsed)
{
    fill(100);
    {
        auto database = open().value();
        ASSERT_TRUE(database->make_backup(3));
        ASSERT_TRUE(add(*database, "after the backup"));
    }
    overwrite(3 * 4096, 4096);
    mark_unclean();

    auto database = open().value();

    EXPECT_TRUE(database->opening().outcome == Outcome::restored) << database->opening().notice;
    EXPECT_THAT(database->opening().notice, HasSubstr("is used"));
    EXPECT_EQ(count(*database), 100);
    EXPECT_TRUE(std::filesystem::exists(database->opening().set_aside));
}

TEST_F(DatabaseTest, ABackupThatWasPutInItsPlaceAfterAKillIsNotMixedWithTheLogThatIsThere)
{
    Path copy;
    {
        auto database = open().value();
        ASSERT_TRUE(add(*database, "before"));
        copy = database->make_backup(3).value();
        for (int i = 0; i < 100; ++i)
            ASSERT_TRUE(add(*database, std::string(1000, 'x')));
        // As a kill leaves them.
        std::filesystem::copy_file(folder_ / "test.db-wal", folder_ / "kept-wal");
    }
    std::filesystem::rename(folder_ / "kept-wal", folder_ / "test.db-wal");
    std::filesystem::copy_file(
        copy, folder_ / "test.db", std::filesystem::copy_options::overwrite_existing);
    mark_unclean();

    auto database = open().value();

    EXPECT_TRUE(database->opening().outcome == Outcome::opened) << database->opening().notice;
    EXPECT_THAT(database->opening().notice, HasSubstr("was replaced by a copy"));
    EXPECT_EQ(count(*database), 1);
    ASSERT_TRUE(add(*database, "after"));
    database.reset();
    EXPECT_EQ(count(*open().value()), 2) << "and its own log is its own";
}

TEST_F(DatabaseTest, ADamagedBackupIsPassedOver)
{
    fill(10);
    {
        auto database = open().value();
        ASSERT_TRUE(database->make_backup(3));
        ASSERT_TRUE(add(*database, "eleventh"));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const auto newest = database->make_backup(3).value();
        ASSERT_TRUE(os::replace_file(newest, "not a database at all, and too short"));
    }
    overwrite(0, 100);

    auto database = open().value();

    EXPECT_TRUE(database->opening().outcome == Outcome::restored);
    EXPECT_EQ(count(*database), 10);
}

TEST_F(DatabaseTest, AnEmptyFileOrALogAloneIsDamageWhenThereWasMore)
{
    fill(5);
    open().value()->make_backup(3).value();
    const auto file = folder_ / "test.db";

    ASSERT_EQ(::truncate(file.c_str(), 0), 0);
    auto database = open().value();
    EXPECT_TRUE(database->opening().outcome == Outcome::restored);
    EXPECT_EQ(count(*database), 5);
    database.reset();

    ASSERT_EQ(::unlink(file.c_str()), 0);
    ASSERT_TRUE(os::replace_file(folder_ / "test.db-wal", std::string(5000, 'w')));
    database = open().value();
    EXPECT_TRUE(database->opening().outcome == Outcome::restored);
    const Path kept_log = database->opening().set_aside.native() + "-wal";
    EXPECT_EQ(os::read_file(kept_log).value().size(), 5000U);
}

TEST_F(DatabaseTest, DamageSeenByAReaderIsLookedForAtTheNextStart)
{
    fill(100);
    open().value()->make_backup(3).value();
    {
        auto database = open().value();
        overwrite(3 * 4096, 4096);
        const auto read =
            database->read([](Connection& reader) { return integrity_check(reader); });
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().kind(), ErrorKind::damaged);
    }

    auto database = open().value();

    EXPECT_FALSE(database->opening().clean_stop);
    EXPECT_TRUE(database->opening().outcome == Outcome::restored);
}

// Whatever others did to a file that was closed well: one opening finds it, keeps what is there and
// goes on.
TEST_F(DatabaseTest, DamageAfterACleanStopIsFoundByTheNextOpening)
{
    const auto index = std::string(table) + "; CREATE INDEX by_text ON note(text)";
    const auto open_indexed = [&] {
        return Database::open({.folder = folder_, .name = "test", .schema = {77, {index}}}).value();
    };
    const auto file = folder_ / "test.db";
    off_t pages = 0;
    for (off_t page = 0; page == 0 || page < pages; ++page) {
        ASSERT_TRUE(os::remove_tree(folder_ / "backups"));
        for (const char* name : {"test.db", "test.lock"})
            ASSERT_TRUE(os::remove_tree(folder_ / name));
        {
            auto database = open_indexed();
            for (int i = 0; i < 30; ++i)
                ASSERT_TRUE(add(*database, std::to_string(i) + std::string(400, 'x')));
            // Some pages for the list of free ones.
            ASSERT_TRUE(database->write(Durability::disk, [](Connection& writer) {
                return writer.execute("DELETE FROM note WHERE id > 10");
            }));
            ASSERT_TRUE(database->make_backup(3));
        }
        struct stat info {};
        ASSERT_EQ(::stat(file.c_str(), &info), 0);
        pages = info.st_size / 4096;
        ASSERT_GT(pages, 5);
        overwrite(page * 4096, 4096);

        auto database = open_indexed();

        EXPECT_EQ(count(*database), 10) << "page " << page;
        EXPECT_TRUE(database->read([](Connection& reader) { return integrity_check(reader); }));
        EXPECT_TRUE(add(*database, "goes on"));
        // A page on the free list holds nothing; all others must have been noticed.
        if (database->opening().outcome != Outcome::opened) {
            EXPECT_TRUE(database->opening().outcome == Outcome::restored);
            EXPECT_TRUE(std::filesystem::exists(database->opening().set_aside));
            EXPECT_THAT(database->opening().notice, HasSubstr("is kept as"));
        }
    }
}

TEST_F(DatabaseTest, AFileThatWasCutIsFoundByTheNextOpening)
{
    for (const off_t size : {50, 4096, 5000, 3 * 4096}) {
        ASSERT_TRUE(os::remove_tree(folder_ / "backups"));
        for (const char* name : {"test.db", "test.lock"})
            ASSERT_TRUE(os::remove_tree(folder_ / name));
        fill(20);
        open().value()->make_backup(3).value();
        ASSERT_EQ(::truncate((folder_ / "test.db").c_str(), size), 0);

        auto database = open().value();

        EXPECT_TRUE(database->opening().outcome == Outcome::restored) << size;
        EXPECT_EQ(count(*database), 20) << size;
    }
}

TEST_F(DatabaseTest, AnEmptyOrMissingFileIsDamageEvenWithoutABackup)
{
    fill(5);
    ASSERT_EQ(::truncate((folder_ / "test.db").c_str(), 0), 0);
    {
        auto database = open().value();
        EXPECT_TRUE(database->opening().outcome == Outcome::emptied);
        EXPECT_THAT(database->opening().notice, HasSubstr("the file is empty"));
    }
    ASSERT_EQ(::unlink((folder_ / "test.db").c_str()), 0);

    auto database = open().value();

    EXPECT_TRUE(database->opening().outcome == Outcome::emptied);
    EXPECT_THAT(database->opening().notice, HasSubstr("the file is missing"));
    EXPECT_THAT(database->opening().notice, HasSubstr("nothing to keep"));
}

TEST_F(DatabaseTest, AFolderInItsPlaceIsSetAside)
{
    fill(5);
    open().value()->make_backup(3).value();
    ASSERT_EQ(::unlink((folder_ / "test.db").c_str()), 0);
    ASSERT_TRUE(os::make_directories(folder_ / "test.db" / "inner"));

    auto database = open().value();

    EXPECT_TRUE(database->opening().outcome == Outcome::restored);
    EXPECT_EQ(count(*database), 5);
    EXPECT_TRUE(std::filesystem::is_directory(database->opening().set_aside / "inner"));
}

TEST_F(DatabaseTest, ANewerVersionIsLeftAlone)
{
    {
        Database::open({.folder = folder_,
                        .name = "test",
                        .schema = {77, {table, "CREATE TABLE later(id INTEGER)"}}})
            .value();
    }
    const auto before = os::read_file(folder_ / "test.db").value();

    const auto refused = open();

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::unavailable);
    EXPECT_THAT(refused.error().hint(), HasSubstr("newer ponk"));
    EXPECT_EQ(os::read_file(folder_ / "test.db").value(), before);
}

TEST_F(DatabaseTest, WhatItsUserCannotReadIsDamageToo)
{
    const auto verify = [](Connection& connection) -> Result<> {
        auto notes = TRY(connection.prepare("SELECT text FROM note"));
        while (TRY(notes.step())) {
            if (notes.text(0) == "spoilt") return fail(ErrorKind::damaged, "a note is spoilt");
        }
        return {};
    };
    const auto open_verified = [&] {
        return Database::open(
                   {.folder = folder_, .name = "test", .schema = {77, {table}}, .verify = verify})
            .value();
    };
    {
        auto database = open_verified();
        ASSERT_TRUE(add(*database, "sound"));
        ASSERT_TRUE(database->make_backup(3));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ASSERT_TRUE(add(*database, "spoilt"));
        ASSERT_TRUE(database->make_backup(3));
        EXPECT_FALSE(database->read(verify));
        EXPECT_TRUE(database->saw_damage());
        EXPECT_FALSE(add(*database, "refused"));
    }

    auto database = open_verified();

    EXPECT_TRUE(database->opening().outcome == Outcome::restored);
    EXPECT_EQ(count(*database), 1) << "the backup that has it is passed over";
}

TEST_F(DatabaseTest, ReadersSeeOneMomentWhileWritersGoOn)
{
    auto database = open().value();
    std::atomic<bool> done = false;
    std::atomic<int> torn = 0;
    std::vector<std::jthread> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back([&] {
            while (!done) {
                const auto pair = database->read([](Connection& reader) -> Result<std::int64_t> {
                    const auto before = TRY(reader.query_integer("SELECT count(*) FROM note"));
                    const auto after =
                        TRY(reader.query_integer("SELECT count(*) FROM note WHERE 1"));
                    return after - before + before % 2;
                });
                if (!pair || *pair != 0) ++torn;
            }
        });
    }
    std::vector<std::jthread> writers;
    for (int i = 0; i < 2; ++i) {
        writers.emplace_back([&] {
            for (int n = 0; n < 25; ++n) {
                const auto two =
                    database->write(Durability::disk, [](Connection& writer) -> Result<> {
                        TRY(writer.execute("INSERT INTO note(text) VALUES('a')"));
                        return writer.execute("INSERT INTO note(text) VALUES('b')");
                    });
                if (!two) ++torn;
            }
        });
    }
    writers.clear();
    done = true;
    readers.clear();

    EXPECT_EQ(torn, 0);
    EXPECT_EQ(count(*database), 100);
}

}  // namespace
}  // namespace ponk::db
