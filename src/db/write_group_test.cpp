// SPDX-License-Identifier: Apache-2.0
#include "base/work_budget.hpp"
#include "db/database.hpp"
#include "db/fault_vfs.hpp"
#include "db/write_group.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <numeric>
#include <thread>

namespace ponk::db {
namespace {

using testing::HasSubstr;

constexpr std::string_view table = "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL)";

class WriteGroupTest : public testing::Test {
protected:
    WriteGroupTest()
    {
        register_fault_vfs();
        database_ = Database::open({.folder = place_.path(),
                                    .name = "test",
                                    .schema = {77, {table}},
                                    .vfs = fault_vfs})
                        .value();
    }
    ~WriteGroupTest() override { set_fault(Fault::none); }

    static Result<> add(Connection& writer, std::int64_t id, std::size_t size = 10)
    {
        auto insert = TRY(writer.prepare("INSERT INTO note(id, text) VALUES(?, ?)"));
        return insert.bind(id, std::string(size, 'x')).run();
    }
    [[nodiscard]] std::int64_t count() const
    {
        return database_
            ->read([](Connection& reader) {
                return reader.query_integer("SELECT count(*) FROM note");
            })
            .value();
    }
    // Calls `write(n)` for 0 to `callers` - 1 while the writer is kept busy, so that all of them
    // are one group.
    template <class Write>
    void as_one_group(int callers, Write write)
    {
        std::latch busy(1);
        std::latch queued(callers);
        std::jthread first([&] {
            EXPECT_TRUE(database_->write(Durability::process, [&](Connection&) -> Result<> {
                busy.count_down();
                queued.wait();
                // Whoever counted down is about to queue; nothing depends on it having done so.
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
                return {};
            }));
        });
        busy.wait();
        std::vector<std::jthread> threads;
        for (int n = 0; n < callers; ++n) {
            threads.emplace_back([&, n] {
                queued.count_down();
                write(n);
            });
        }
    }

    os::TestFolder place_;
    std::unique_ptr<Database> database_;
};

TEST_F(WriteGroupTest, SixteenThreadsGetEachItsOwnResult)
{
    constexpr int threads = 16;
    constexpr int each = 50;
    std::vector<std::jthread> running;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < threads; ++t) {
        running.emplace_back([&, t] {
            for (int i = 0; i < each; ++i) {
                const std::int64_t id = t * each + i;
                const auto got =
                    database_->write(Durability::disk, [&](Connection& writer) -> Result<int> {
                        TRY(add(writer, id));
                        if (i % 7 == 3) return fail(ErrorKind::not_found, "{}", id);
                        return static_cast<int>(id);
                    });
                const bool right = i % 7 == 3 ? !got && got.error().message() == std::to_string(id)
                                              : got && *got == id;
                if (!right) ++wrong;
            }
        });
    }
    running.clear();

    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(count(), threads * (each - 7));
}

TEST_F(WriteGroupTest, AJobThatFailsIsUndoneAndTheOthersAreStored)
{
    std::vector<WriteJob> jobs(3);
    for (int n = 0; n < 3; ++n) {
        jobs[static_cast<std::size_t>(n)].work = [n](Connection& writer) -> Result<> {
            TRY(add(writer, n * 10));
            if (n == 1) TRY(add(writer, 0));  // is there: a broken constraint
            return {};
        };
    }
    const auto connection = Connection::open(place_.path() / "plain.db", Role::writer).value();
    ASSERT_TRUE(connection->execute(std::string(table)));

    run_together(*connection, std::array{&jobs[0], &jobs[1], &jobs[2]});

    EXPECT_TRUE(jobs[0].outcome);
    ASSERT_FALSE(jobs[1].outcome);
    EXPECT_EQ(jobs[1].outcome.error().kind(), ErrorKind::conflict);
    EXPECT_TRUE(jobs[2].outcome);
    EXPECT_EQ(connection->query_integer("SELECT group_concat(id, '') FROM note").value(), 20);
    EXPECT_FALSE(connection->in_transaction());
}

TEST_F(WriteGroupTest, WhenSqliteGivesTheTransactionUpOnlyThoseBehindAreStored)
{
    std::vector<WriteJob> jobs(3);
    jobs[0].work = [](Connection& writer) { return add(writer, 1); };
    jobs[1].work = [](Connection& writer) -> Result<> {
        TRY(writer.execute("ROLLBACK"));  // as SQLite does by itself on a full disk
        return fail(ErrorKind::unavailable, "the disk is full");
    };
    jobs[2].work = [](Connection& writer) { return add(writer, 3); };
    const auto connection = Connection::open(place_.path() / "plain.db", Role::writer).value();
    ASSERT_TRUE(connection->execute(std::string(table)));

    run_together(*connection, std::array{&jobs[0], &jobs[1], &jobs[2]});

    EXPECT_EQ(jobs[0].outcome.error().message(), "the disk is full");
    EXPECT_FALSE(jobs[1].outcome);
    EXPECT_TRUE(jobs[2].outcome);
    EXPECT_EQ(connection->query_integer("SELECT sum(id) FROM note").value(), 3);
}

TEST_F(WriteGroupTest, AFailedSyncFailsEveryJobOfTheGroupAndStopsTheDatabase)
{
    std::atomic<int> refused = 0;
    std::atomic<int> stored = 0;
    as_one_group(16, [&](int n) {
        if (n == 0) set_fault(Fault::fsync_fails);
        const auto done =
            database_->write(Durability::disk, [n](Connection& writer) { return add(writer, n); });
        ++(done ? stored : refused);
    });
    set_fault(Fault::none);

    EXPECT_GT(refused, 0);
    EXPECT_EQ(count(), stored);
    ASSERT_TRUE(database_->failure());
    const auto later =
        database_->write(Durability::disk, [](Connection& writer) { return add(writer, 99); });
    ASSERT_FALSE(later);
    EXPECT_THAT(later.error().message(), HasSubstr("nothing more is written since"));
}

TEST_F(WriteGroupTest, AFullDiskRefusesAGroupAndTheNextOneIsStored)
{
    ASSERT_TRUE(
        database_->write(Durability::disk, [](Connection& writer) { return add(writer, 1000); }));
    set_fault(Fault::disk_is_full);
    std::atomic<int> refused = 0;
    as_one_group(16, [&](int n) {
        const auto done = database_->write(
            Durability::disk, [n](Connection& writer) { return add(writer, n, 20'000); });
        if (!done && done.error().message().find("the disk is full") != std::string::npos)
            ++refused;
    });
    EXPECT_EQ(refused, 16);
    EXPECT_EQ(count(), 1);
    set_fault(Fault::none);

    as_one_group(16, [&](int n) {
        EXPECT_TRUE(
            database_->write(Durability::disk, [n](Connection& writer) { return add(writer, n); }));
    });

    EXPECT_EQ(count(), 17);
    EXPECT_FALSE(database_->failure());
}

TEST_F(WriteGroupTest, JobsThatNobodyWaitsForAreToldTheirOutcomeBesideThoseOfCallers)
{
    constexpr int each = 200;
    std::atomic<int> stored = 0;
    std::atomic<int> refused = 0;
    std::latch told(2 * each);
    const auto later = [&](std::int64_t id) {
        database_->write_later({.work = [id](Connection& writer) -> Result<> {
                                    if (id % 10 == 7) return fail(ErrorKind::not_found, "{}", id);
                                    return add(writer, id);
                                },
                                .one_change = true,
                                .done =
                                    [&, id](const Result<>& outcome) {
                                        const bool must_fail = id % 10 == 7;
                                        if (outcome.has_value() != must_fail)
                                            ++(outcome ? stored : refused);
                                        told.count_down();
                                    }});
    };
    std::jthread one([&] {
        for (int i = 0; i < each; ++i)
            later(i);
    });
    std::jthread two([&] {
        for (int i = 0; i < each; ++i)
            later(1000 + i);
    });
    for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(database_->write(Durability::disk,
                                     [i](Connection& writer) { return add(writer, 5000 + i); }));
    }
    told.wait();

    EXPECT_EQ(stored, 2 * each * 9 / 10);
    EXPECT_EQ(refused, 2 * each / 10);
    EXPECT_EQ(count(), stored + 20);
}

TEST_F(WriteGroupTest, TheEndOfADatabaseWaitsForJobsThatNobodyWaitsFor)
{
    std::atomic<int> stored = 0;
    for (std::int64_t id = 0; id < 50; ++id) {
        database_->write_later(
            {.work = [id](Connection& writer) { return add(writer, id); },
             .done = [&](const Result<>& outcome) { stored += outcome ? 1 : 0; }});
    }

    database_.reset();

    EXPECT_EQ(stored, 50);
}

// Counts groups with a run of its own instead of a database.
TEST(WriteGroupQueueTest, ThoseWhoComeMeanwhileAreOneGroup)
{
    std::latch first_runs(1);
    std::latch go_on(1);
    std::vector<std::size_t> sizes;  // written by one leader at a time
    WriteGroup group([&](std::span<WriteJob* const> jobs) {
        sizes.push_back(jobs.size());
        if (sizes.size() > 1) return;
        first_runs.count_down();
        go_on.wait();
    });
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
        WriteJob job;
        group.submit(job);
    });
    first_runs.wait();
    std::atomic<int> arrived = 0;
    for (int i = 0; i < 15; ++i) {
        threads.emplace_back([&] {
            WriteJob job;
            ++arrived;
            group.submit(job);
        });
    }
    while (arrived < 15)
        std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    go_on.count_down();
    threads.clear();

    EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}), 16U);
    EXPECT_EQ(sizes.at(0), 1U);
    EXPECT_LT(sizes.size(), 16U);
}

TEST(WriteGroupQueueTest, WhoseRequestIsOverTakesItsJobBackUnlessItIsRun)
{
    std::latch first_runs(1);
    std::latch go_on(1);
    std::atomic<int> ran = 0;
    WriteGroup group([&](std::span<WriteJob* const> jobs) {
        EXPECT_TRUE(check_work()) << "jobs of others do not end with the leader's request";
        ran += static_cast<int>(jobs.size());
        first_runs.count_down();
        go_on.wait();
    });
    WorkBudget over;
    over.abandon();
    WriteJob leads;
    std::jthread leader([&] {
        const WorkScope scope(&over);
        group.submit(leads);
    });
    first_runs.wait();
    WriteJob waits;
    {
        const WorkScope scope(&over);
        group.submit(waits);
    }
    EXPECT_EQ(waits.outcome.error().kind(), ErrorKind::cancelled);
    go_on.count_down();
    leader.join();
    EXPECT_TRUE(leads.outcome);
    EXPECT_EQ(ran, 1);
}

TEST_F(WriteGroupTest, AWriteIsDoneEvenWhenTheClientOfItsThreadHasLeft)
{
    WorkBudget left;
    left.abandon();
    const WorkScope scope(&left);

    // So many operations that a read would be ended; the next job may be somebody else's.
    const auto written = database_->write(Durability::process, [](Connection& writer) -> Result<> {
        for (int id = 0; id < 2'000; ++id)
            TRY(add(writer, id));
        return check_work();
    });

    EXPECT_TRUE(written);
    EXPECT_FALSE(check_work());
    const WorkScope nobody(nullptr);
    EXPECT_EQ(count(), 2'000);
}

}  // namespace
}  // namespace ponk::db
