// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "db/database.hpp"
#include "db/fault_vfs.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace ponk::db {
namespace {

using testing::HasSubstr;

constexpr std::string_view table = "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL)";

class FaultTest : public testing::Test {
protected:
    FaultTest() { register_fault_vfs(); }
    [[nodiscard]] Result<std::unique_ptr<Database>> open(const std::string& vfs = fault_vfs,
                                                         Sync sync = Sync::full) const
    {
        return Database::open(
            {.folder = folder_, .name = "test", .schema = {77, {table}}, .vfs = vfs, .sync = sync});
    }
    static Result<> add(Database& database, std::int64_t id, Durability durability)
    {
        return database.write(durability, [&](Connection& writer) -> Result<> {
            auto insert = TRY(writer.prepare("INSERT INTO note(id, text) VALUES(?, ?)"));
            return insert.bind(id, std::string(200, 'x')).run();
        });
    }
    static std::int64_t count(Database& database)
    {
        return database
            .read([](Connection& reader) {
                return reader.query_integer("SELECT count(*) FROM note");
            })
            .value();
    }
    // After the power was cut in `child`: sound, and a beginning of what was written, without a
    // hole.
    void expect_sound_after_cut(pid_t child, unsigned seed, std::int64_t acknowledged = 0)
    {
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_EQ(WEXITSTATUS(status), 9) << "seed " << seed;
        auto database = open("");
        ASSERT_TRUE(database) << database.error().message();
        EXPECT_TRUE((*database)->opening().outcome == Database::Outcome::opened);
        EXPECT_TRUE((*database)->read([](Connection& reader) { return integrity_check(reader); }));
        // All up to the last acknowledged one: a durable commit carries those before it.
        EXPECT_GE(count(**database), acknowledged) << "seed " << seed;
        const auto highest = (*database)->read(
            [](Connection& reader) { return reader.query_integer("SELECT max(id) FROM note"); });
        EXPECT_EQ(highest.value(), count(**database)) << "seed " << seed;
    }

    os::TestFolder place_;
    Path folder_ = place_.path();
};

TEST_F(FaultTest, AfterAFailedFsyncNothingMoreIsWritten)
{
    {
        auto database = open().value();
        ASSERT_TRUE(add(*database, 1, Durability::disk));
        set_fault(Fault::fsync_fails);

        const auto failed = add(*database, 2, Durability::disk);

        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().kind(), ErrorKind::unavailable);
        set_fault(Fault::none);
        const auto later = add(*database, 3, Durability::disk);
        ASSERT_FALSE(later);
        EXPECT_THAT(later.error().message(), HasSubstr("nothing more is written since"));
        EXPECT_TRUE(database->failure());
        EXPECT_EQ(count(*database), 1);
    }
    auto database = open().value();
    EXPECT_FALSE(database->opening().clean_stop);
    EXPECT_TRUE(add(*database, 4, Durability::disk));
    EXPECT_GE(count(*database), 2);
}

TEST_F(FaultTest, AFullDiskRefusesOneWriteAndLosesNone)
{
    auto database = open().value();
    ASSERT_TRUE(add(*database, 1, Durability::disk));
    set_fault(Fault::disk_is_full);

    const auto refused = add(*database, 2, Durability::disk);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::unavailable);
    EXPECT_THAT(refused.error().message(), HasSubstr("the disk is full"));
    EXPECT_THAT(refused.error().hint(), HasSubstr("Free space"));
    set_fault(Fault::none);
    EXPECT_TRUE(add(*database, 2, Durability::disk));
    EXPECT_EQ(count(*database), 2);
    EXPECT_FALSE(database->failure());
}

// Writes until the power is cut and tells each acknowledged id by the pipe.
[[noreturn]] void write_until_cut(Database& database, int operation, unsigned seed, int out)
{
    cut_power_at(operation, seed, 9);
    for (std::int64_t id = 1; id < 10'000; ++id) {
        // Every third is allowed to be lost, together with nothing that came before or after it.
        const bool lossy = id % 3 == 0;
        const auto done = database.write(
            lossy ? Durability::process : Durability::disk, [&](Connection& writer) -> Result<> {
                auto insert = TRY(writer.prepare("INSERT INTO note(id, text) VALUES(?, ?)"));
                return insert.bind(id, std::string(static_cast<std::size_t>(id * 37 % 3000), 'x'))
                    .run();
            });
        if (!done) ::_exit(1);
        if (!lossy && ::write(out, &id, sizeof id) != sizeof id) ::_exit(2);
    }
    ::_exit(3);
}

TEST_F(FaultTest, EveryDurableCommitSyncsTheLogWhenSyncIsFull)
{
    auto database = open().value();
    ASSERT_TRUE(add(*database, 1, Durability::disk));
    const auto before = count_syncs(SyncedFile::log);

    for (std::int64_t id = 2; id <= 11; ++id)
        ASSERT_TRUE(add(*database, id, Durability::disk));

    EXPECT_EQ(count_syncs(SyncedFile::log) - before, 10);
}

TEST_F(FaultTest, NoCommitSyncsTheLogWhenSyncIsNormal)
{
    auto database = open(fault_vfs, Sync::normal).value();
    ASSERT_TRUE(add(*database, 1, Durability::disk));
    const auto log = count_syncs(SyncedFile::log);
    const auto file = count_syncs(SyncedFile::database);

    for (std::int64_t id = 2; id <= 11; ++id)
        ASSERT_TRUE(add(*database, id, Durability::disk));

    EXPECT_EQ(database->sync(), Sync::normal);
    EXPECT_EQ(count_syncs(SyncedFile::log) - log, 0);
    EXPECT_EQ(count_syncs(SyncedFile::database) - file, 0);
    // What is moved from the log into the database is synced on both sides, so nothing is damaged.
    database.reset();
    EXPECT_GT(count_syncs(SyncedFile::log) - log, 0);
    EXPECT_GT(count_syncs(SyncedFile::database) - file, 0);
    EXPECT_EQ(count(*open("").value()), 11);
}

TEST_F(FaultTest, APowerCutDamagesNothingWhenSyncIsNormal)
{
    for (unsigned seed = 1; seed <= 5; ++seed) {
        ASSERT_TRUE(os::remove_tree(folder_));
        const pid_t child = ::fork();
        if (child == 0) {
            register_fault_vfs();
            auto database = open(fault_vfs, Sync::normal);
            if (!database) ::_exit(4);
            cut_power_at(static_cast<int>(seed * 397 % 4000 + 1), seed, 9);
            for (std::int64_t id = 1; id < 100'000; ++id) {
                if (!add(**database, id, Durability::disk)) ::_exit(1);
            }
            ::_exit(3);
        }
        expect_sound_after_cut(child, seed);
    }
}

TEST_F(FaultTest, APowerCutTakesNothingThatWasAcknowledged)
{
    for (unsigned seed = 1; seed <= 25; ++seed) {
        ASSERT_TRUE(os::remove_tree(folder_));
        auto pipe = os::make_pipe().value();
        const pid_t child = ::fork();
        if (child == 0) {
            register_fault_vfs();
            auto database = open();
            if (!database) ::_exit(4);
            write_until_cut(
                **database, static_cast<int>(seed * 131 % 900 + 1), seed, pipe.write.get());
        }
        pipe.write.reset();
        std::int64_t acknowledged = 0;
        for (std::int64_t id = 0; ::read(pipe.read.get(), &id, sizeof id) == sizeof id;)
            acknowledged = id;
        expect_sound_after_cut(child, seed, acknowledged);
    }
}

}  // namespace
}  // namespace ponk::db
