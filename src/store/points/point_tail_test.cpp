// SPDX-License-Identifier: Apache-2.0
#include "base/work_budget.hpp"
#include "db/database.hpp"
#include "store/history/history_test_support.hpp"
#include "store/points/point_tail.hpp"
#include "store/points/series.hpp"
#include "store/points/tail_codec.hpp"
#include "store/schema/schema.hpp"

#include <atomic>
#include <thread>

namespace ponk::store {
namespace {

using model::MetricPoint;

MetricPoint point(const std::string& key, std::int64_t step)
{
    return {key, static_cast<double>(step) / 8, std::nullopt, step, step};
}

// The database below a history, with one run.
class PlanTest : public HistoryTest {
protected:
    void SetUp() override
    {
        add();
        history_.reset();
        database_ =
            db::Database::open({.folder = folder_, .name = "history", .schema = history_schema()})
                .value();
    }
    PointsPlan plan(const std::vector<MetricPoint>& points)
    {
        return database_
            ->read([&](db::Connection& reader) {
                return plan_points(reader, run_, PointsByKey(points));
            })
            .value();
    }
    void add_now(const std::vector<MetricPoint>& points)
    {
        ASSERT_TRUE(database_->write(db::Durability::process, [&](db::Connection& writer) {
            return add_points(writer, run_, PointsByKey(points));
        }));
    }
    bool holds(const PointsPlan& plan)
    {
        return database_
            ->read([&](db::Connection& reader) { return still_holds(reader, run_, plan); })
            .value();
    }
    std::int64_t number(const std::string& what)
    {
        return database_
            ->read([&](db::Connection& reader) { return reader.query_integer("SELECT " + what); })
            .value();
    }

    std::int64_t run_ = 1;
    std::unique_ptr<db::Database> database_;
};

TEST_F(PlanTest, IsStoredAsIfThePointsHadBeenAddedAtOnce)
{
    add_now({point("loss", 1), point("loss", 2)});

    const auto planned = plan({point("loss", 2), point("loss", 3), point("acc", 1)});

    EXPECT_EQ(number("count(*) FROM metric"), 1) << "a plan changes nothing";
    EXPECT_TRUE(holds(planned));
    ASSERT_TRUE(database_->write(db::Durability::process, [&](db::Connection& writer) {
        return store_points(writer, run_, planned);
    }));
    EXPECT_EQ(number("count FROM metric WHERE key = 'loss'"), 3);
    EXPECT_EQ(number("step FROM metric WHERE key = 'loss'"), 3);
    EXPECT_EQ(number("count FROM metric WHERE key = 'acc'"), 1);
    EXPECT_EQ(number("sum(count) FROM chunk"), 4);
    EXPECT_TRUE(plan({point("loss", 3), point("acc", 1)}).keys.empty());
}

TEST_F(PlanTest, HoldsUntilSomebodyAddsToOneOfItsKeys)
{
    add_now({point("loss", 1)});
    const auto of_known = plan({point("loss", 2)});
    const auto of_new = plan({point("acc", 1)});
    EXPECT_TRUE(holds(of_known));

    add_now({point("other", 1)});
    EXPECT_TRUE(holds(of_known));
    EXPECT_TRUE(holds(of_new));
    add_now({point("acc", 2)});
    EXPECT_TRUE(holds(of_known));
    EXPECT_FALSE(holds(of_new));
    add_now({point("loss", 3)});
    EXPECT_FALSE(holds(of_known));
}

TEST_F(PlanTest, ATailIsCompactedNoFurtherThanAskedFor)
{
    Uncompacted uncompacted;
    const auto log = [&](std::int64_t step) {
        return database_->write(db::Durability::process, [&](db::Connection& writer) {
            const std::vector points{point("loss", step)};
            return append_tail(writer, uncompacted, run_, encode_tail(PointsByKey(points)));
        });
    };
    for (std::int64_t step = 0; step < 20'010; ++step)
        ASSERT_TRUE(log(step));
    const auto all = uncompacted.bytes();

    ASSERT_TRUE(compact_down_to(*database_, uncompacted, all));
    EXPECT_EQ(number("count(*) FROM tail"), 20'010);
    ASSERT_TRUE(compact_down_to(*database_, uncompacted, all - 1));
    EXPECT_EQ(number("count(*) FROM tail"), 10) << "one step";
    EXPECT_EQ(uncompacted.rows(run_).size(), 10U);
    ASSERT_TRUE(compact_down_to(*database_, uncompacted, 0));
    EXPECT_EQ(number("count(*) FROM tail"), 0);
    EXPECT_FALSE(uncompacted.any());
    EXPECT_EQ(number("count FROM metric"), 20'010);
}

TEST(UncompactedTest, KnowsTheRowsThatAreLeft)
{
    Uncompacted uncompacted;
    EXPECT_FALSE(uncompacted.any());
    uncompacted.note(1, uncompacted.next_row(), 100);
    uncompacted.note(2, uncompacted.next_row(), 10);
    uncompacted.note(1, uncompacted.next_row(), 30);
    uncompacted.note(1, 9, 1);  // of before
    EXPECT_EQ(uncompacted.next_row(), 10);
    EXPECT_THAT(uncompacted.rows(1), testing::ElementsAre(1, 3, 9));
    EXPECT_EQ(uncompacted.bytes(), 141U);

    uncompacted.forget(1, std::vector<std::int64_t>{1, 2, 9});
    EXPECT_THAT(uncompacted.rows(1), testing::ElementsAre(3));
    EXPECT_EQ(uncompacted.bytes(), 40U);
    uncompacted.forget(7, std::vector<std::int64_t>{1});
    uncompacted.forget_until(2);
    EXPECT_FALSE(uncompacted.has(2));
    EXPECT_TRUE(uncompacted.has(1));
    uncompacted.forget_until(3);
    EXPECT_FALSE(uncompacted.any());
    EXPECT_EQ(uncompacted.bytes(), 0U);
}

TEST(UncompactedTest, KnowsWhichRunsHaveManyRows)
{
    Uncompacted uncompacted;
    for (std::size_t i = 0; i < Uncompacted::many_rows; ++i) {
        EXPECT_FALSE(uncompacted.any_long_run());
        uncompacted.note(7, uncompacted.next_row(), 1);
        uncompacted.note(8, uncompacted.next_row(), 1);
        uncompacted.forget(8, std::vector{uncompacted.last_row()});
    }
    EXPECT_TRUE(uncompacted.any_long_run());
    EXPECT_THAT(uncompacted.long_runs(), testing::ElementsAre(7));
    EXPECT_EQ(uncompacted.count(), Uncompacted::many_rows);
    uncompacted.forget(7, std::vector<std::int64_t>{1});
    EXPECT_FALSE(uncompacted.any_long_run());
    uncompacted.forget_until(uncompacted.last_row());
    EXPECT_EQ(uncompacted.count(), 0U);
}

TEST(UncompactedTest, GivesOneTurnAtATime)
{
    Uncompacted uncompacted;
    std::atomic<int> inside = 0;
    int turns = 0;  // guarded by the turn
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int each = 0; each < 200; ++each) {
                const Uncompacted::Turn turn(uncompacted);
                EXPECT_EQ(++inside, 1);
                ++turns;
                --inside;
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(turns, 800);
}

TEST(UncompactedTest, WhoseRequestIsOverLeavesTheRowAndTheNextHasItsTurn)
{
    Uncompacted uncompacted;
    auto first = std::make_unique<Uncompacted::Turn>(uncompacted);
    {
        WorkBudget budget;
        budget.abandon();
        const WorkScope scope(&budget);
        const Uncompacted::Turn left(uncompacted);
        EXPECT_EQ(left.taken().error().kind(), ErrorKind::cancelled);
    }
    first.reset();
    const Uncompacted::Turn next(uncompacted);
    EXPECT_TRUE(next.taken());
}

using CompactionTest = HistoryTest;

TEST_F(CompactionTest, LosesAndDoublesNothingWhileOthersLogAddAndDelete)
{
    constexpr std::int64_t rounds = 150;
    constexpr std::int64_t each = 20;
    const auto id = add().id;
    std::atomic<bool> over = false;
    std::vector<std::thread> compactors;
    for (int i = 0; i < 2; ++i) {
        compactors.emplace_back([&] {
            while (!over)
                EXPECT_TRUE(history_->compact_all());
        });
    }
    const auto some = [](std::int64_t round, std::int64_t offset) {
        std::vector<MetricPoint> points;
        for (std::int64_t i = 0; i < each; ++i)
            points.push_back(point(i % 2 == 0 ? "a" : "b", (round * each + i) * 2 + offset));
        return points;
    };
    std::vector<std::thread> others;
    others.emplace_back([&] {
        for (std::int64_t round = 0; round < rounds; ++round) {
            ASSERT_TRUE(history_->log_points(id, some(round, 0)));
            ASSERT_TRUE(history_->log_points(id, some(round, 0)));  // each twice
        }
    });
    others.emplace_back([&] {
        for (std::int64_t round = 0; round < rounds; ++round) {
            const auto from = static_cast<std::uint64_t>(round);
            ASSERT_TRUE(history_->record_metrics(id, {"m", from, from + 1, some(round, 1)}));
        }
    });
    others.emplace_back([&] {
        for (std::int64_t round = 0; round < rounds; ++round) {
            auto run = make_run();
            run.state = model::RunState::not_started;
            const auto gone = history_->create_run(run).value().run.id;
            ASSERT_TRUE(history_->log_points(gone, some(round, 0)));
            ASSERT_TRUE(history_->update_state(gone, RunState::not_started, RunState::canceled));
            ASSERT_TRUE(history_->delete_run(gone));
        }
    });
    for (auto& thread : others)
        thread.join();
    over = true;
    for (auto& thread : compactors)
        thread.join();

    for (const std::string key : {"a", "b"}) {
        EXPECT_EQ(history_->find_metric(id, key).value()->count, rounds * each) << key;
        EXPECT_EQ(history_->metric_series(id, key).value().size(),
                  static_cast<std::size_t>(rounds * each))
            << key;
    }
}

}  // namespace
}  // namespace ponk::store
