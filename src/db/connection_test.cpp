// SPDX-License-Identifier: Apache-2.0
#include "base/work_budget.hpp"
#include "base/work_count.hpp"
#include "db/connection.hpp"
#include "db/library.hpp"
#include "db/step_limit.hpp"
#include "db/transaction.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ponk::db {
namespace {

using testing::HasSubstr;

constexpr const char* endless_count =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

class ConnectionTest : public testing::Test {
protected:
    os::TestFolder place_;
    Path folder_ = place_.path();
    Path file_ = folder_ / "test.db";
    std::unique_ptr<Connection> writer_ = Connection::open(file_, Role::writer).value();
};

TEST_F(ConnectionTest, HasTheSettingsThatKeepDataSafe)
{
    const auto setting = [&](const std::string& name) {
        return writer_->query_integer("PRAGMA " + name).value();
    };

    EXPECT_EQ(setting("synchronous"), 2);
    EXPECT_EQ(setting("foreign_keys"), 1);
    EXPECT_EQ(setting("trusted_schema"), 0);
    EXPECT_EQ(setting("cell_size_check"), 1);
    EXPECT_EQ(setting("mmap_size"), 0);
    EXPECT_GT(setting("busy_timeout"), 0);
    auto mode = writer_->prepare("PRAGMA journal_mode").value();
    ASSERT_TRUE(mode.step().value());
    EXPECT_EQ(mode.text(0), "wal");
    // Text in double quotes is a name, so that a typo cannot become a value.
    EXPECT_FALSE(writer_->execute("SELECT \"no such column\""));
    EXPECT_FALSE(writer_->execute("ATTACH 'other.db' AS other"));
}

TEST_F(ConnectionTest, AReaderCannotWriteAndLeavesTheLogAlone)
{
    ASSERT_TRUE(writer_->execute("CREATE TABLE t(x)"));
    auto reader = Connection::open(file_, Role::reader).value();

    EXPECT_FALSE(reader->execute("INSERT INTO t VALUES(1)"));
    EXPECT_EQ(reader->query_integer("PRAGMA wal_autocheckpoint").value(), 0);
    EXPECT_EQ(reader->query_integer("PRAGMA query_only").value(), 1);
}

TEST_F(ConnectionTest, ValuesComeBackAsTheyWere)
{
    ASSERT_TRUE(writer_->execute("CREATE TABLE t(a, b, c, d, e, f, g)"));
    const std::string any("\xff\0 text", 7);
    auto insert = writer_->prepare("INSERT INTO t VALUES(?, ?, ?, ?, ?, ?, ?)").value();
    ASSERT_TRUE(insert
                    .bind(std::numeric_limits<std::int64_t>::min(),
                          -0.1,
                          any,
                          Blob{any},
                          std::optional<std::int64_t>(),
                          std::optional<std::string>("some"),
                          std::string_view())
                    .run());

    auto row = writer_->prepare("SELECT * FROM t").value();

    ASSERT_TRUE(row.step().value());
    EXPECT_EQ(row.integer(0), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(row.real(1), -0.1);
    EXPECT_EQ(row.text(2), any);
    EXPECT_EQ(row.bytes(3), any);
    EXPECT_TRUE(row.is_null(4));
    EXPECT_EQ(row.integer_if_any(4), std::nullopt);
    EXPECT_EQ(row.text_if_any(5), "some");
    EXPECT_EQ(row.text_if_any(6), "");
    EXPECT_FALSE(row.step().value());
}

TEST_F(ConnectionTest, TheSameTextCanBeInUseTwice)
{
    ASSERT_TRUE(writer_->execute("CREATE TABLE t(x); INSERT INTO t VALUES(1), (2)"));
    auto outer = writer_->prepare("SELECT x FROM t ORDER BY x").value();
    ASSERT_TRUE(outer.step().value());
    {
        auto inner = writer_->prepare("SELECT x FROM t ORDER BY x").value();
        ASSERT_TRUE(inner.step().value());
        EXPECT_EQ(inner.integer(0), 1);
    }

    ASSERT_TRUE(outer.step().value());
    EXPECT_EQ(outer.integer(0), 2);
}

TEST_F(ConnectionTest, ATransactionIsUndoneUnlessCommitted)
{
    ASSERT_TRUE(writer_->execute("CREATE TABLE t(x)"));
    {
        auto transaction = Transaction::begin(*writer_).value();
        ASSERT_TRUE(writer_->execute("INSERT INTO t VALUES(1)"));
    }
    {
        auto transaction = Transaction::begin(*writer_).value();
        ASSERT_TRUE(writer_->execute("INSERT INTO t VALUES(2)"));
        ASSERT_TRUE(transaction.commit());
    }

    EXPECT_EQ(writer_->query_integer("SELECT sum(x) FROM t").value(), 2);
    EXPECT_FALSE(writer_->in_transaction());
}

TEST_F(ConnectionTest, ErrorsNameTheFile)
{
    const auto missing = Connection::open(folder_ / "no folder" / "x.db", Role::writer);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind(), ErrorKind::unavailable);
    EXPECT_THAT(missing.error().message(), HasSubstr("x.db"));

    ASSERT_TRUE(os::replace_file(folder_ / "text.db", std::string(8192, 'x')));
    const auto text = Connection::open(folder_ / "text.db", Role::writer);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().kind(), ErrorKind::damaged);

    ASSERT_TRUE(writer_->execute("CREATE TABLE t(x UNIQUE); INSERT INTO t VALUES(1)"));
    EXPECT_EQ(writer_->execute("INSERT INTO t VALUES(1)").error().kind(), ErrorKind::conflict);
}

TEST(Library, TellsItsVersion)
{
    const auto library = library_version();

    EXPECT_THAT(library.text(), HasSubstr("SQLite 3."));
    EXPECT_TRUE(library.source == "system" || library.has_wal_reset_fix) << library.version;
}

TEST_F(ConnectionTest, StatementsForOneUseAreAsGoodAsKeptOnes)
{
    for (int i = 0; i < 3; ++i) {
        auto statement = writer_->prepare_once("SELECT ? + 1").value();
        statement.bind(i);
        ASSERT_TRUE(statement.step().value());
        EXPECT_EQ(statement.integer(0), i + 1);
    }
    EXPECT_FALSE(writer_->prepare_once("SELECT FROM"));
}

TEST_F(ConnectionTest, ALongReadIsGivenUpAndTheConnectionStaysGood)
{
    {
        StepLimit limit(*writer_, 50'000);
        EXPECT_EQ(writer_->query_integer("SELECT 7").value(), 7);
        EXPECT_FALSE(limit.exceeded());
        EXPECT_FALSE(writer_->query_integer(endless_count));
        EXPECT_TRUE(limit.exceeded());
    }
    EXPECT_FALSE(writer_->final_failure());
    EXPECT_EQ(writer_
                  ->query_integer("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                                  " WHERE i < 100000) SELECT count(*) FROM n")
                  .value(),
              100'000);
}

TEST_F(ConnectionTest, AReadEndsWithTheWorkOfItsThread)
{
    WorkBudget left;
    left.abandon();
    const WorkBudget late(WorkBudget::Clock::now() - std::chrono::seconds(1));
    for (const auto& [budget, kind] :
         {std::pair<const WorkBudget*, ErrorKind>{&left, ErrorKind::cancelled},
          {&late, ErrorKind::timeout}}) {
        const WorkScope scope(budget);
        const auto transaction = Transaction::begin(*writer_, Transaction::Kind::read);
        const auto counted = writer_->query_integer(endless_count);
        ASSERT_FALSE(counted);
        EXPECT_EQ(counted.error().kind(), kind);
        EXPECT_EQ(counted.error().message(), budget->check().error().message());
    }
    EXPECT_FALSE(writer_->final_failure());
    EXPECT_FALSE(writer_->in_transaction());
    EXPECT_EQ(writer_->query_integer("SELECT 7").value(), 7);
}

TEST_F(ConnectionTest, ATransactionEndsHoweverOftenTheWorkWasOver)
{
    WorkBudget left;
    left.abandon();
    const WorkScope scope(&left);
    for (int i = 0; i < 3'000; ++i) {
        ASSERT_TRUE(Transaction::begin(*writer_, Transaction::Kind::read));
        ASSERT_FALSE(writer_->in_transaction());
    }
}

TEST_F(ConnectionTest, PatternsAreMatchedInAStepPerByte)
{
    auto statement = writer_
                         ->prepare("SELECT like_exact(?1, ?2), like_folded(?1, ?2),"
                                   " like_exact(NULL, ?2), like_exact(?1, NULL)")
                         .value();
    statement.bind("%" + std::string(400, 'A') + "%", std::string(8'000, 'a'));
    const WorkCount work;
    ASSERT_TRUE(statement.step().value());
    EXPECT_EQ(statement.integer(0), 0);
    EXPECT_EQ(statement.integer(1), 1);
    EXPECT_TRUE(statement.is_null(2));
    EXPECT_TRUE(statement.is_null(3));
    EXPECT_GT(work.steps(), 8'000U);
    EXPECT_LT(work.steps(), 2 * 8'000U * 8);
}

}  // namespace
}  // namespace ponk::db
