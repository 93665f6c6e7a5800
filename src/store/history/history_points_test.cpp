// SPDX-License-Identifier: Apache-2.0
#include "base/time.hpp"
#include "base/work_budget.hpp"
#include "db/database.hpp"
#include "query/search/filter.hpp"
#include "store/history/history_access.hpp"
#include "store/history/history_test_support.hpp"
#include "store/schema/schema.hpp"
#include "store/tracking/tracking.hpp"

#include <cmath>
#include <limits>
#include <thread>

namespace ponk::store {
namespace {

using model::MetricPoint;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

MetricPoint point(const std::string& key, double value, std::int64_t step, std::int64_t time = 0)
{
    return {key, value, std::nullopt, step, time};
}

class PointsTest : public HistoryTest {
protected:
    Result<> log(const std::vector<MetricPoint>& points)
    {
        return history_->log_points(id_, points);
    }
    [[nodiscard]] std::vector<double> values(const std::string& key) const
    {
        std::vector<double> all;
        const auto series = history_->metric_series(id_, key).value();
        for (const auto& each : series)
            all.push_back(each.value);
        return all;
    }
    // Rows of a table, once the history is closed.
    std::int64_t rows(const std::string& what)
    {
        history_.reset();
        const auto database =
            db::Database::open({.folder = folder_, .name = "history", .schema = history_schema()})
                .value();
        return database
            ->read([&](db::Connection& reader) { return reader.query_integer("SELECT " + what); })
            .value();
    }

    RunId id_ = add().id;
};

TEST_F(PointsTest, WhatIsLoggedIsThereForWhoeverAsksNext)
{
    ASSERT_TRUE(log({point("loss", 0.5, 1), point("acc", 0.1, 1)}));
    ASSERT_TRUE(log({point("loss", 0.4, 2)}));

    const auto latest = history_->latest_metrics(id_).value();

    ASSERT_THAT(latest, SizeIs(2));
    EXPECT_EQ(latest[1].point.value, 0.4);
    EXPECT_EQ(latest[1].count, 2);
    ASSERT_TRUE(log({point("loss", 0.3, 3)}));
    EXPECT_THAT(values("loss"), ElementsAre(0.5, 0.4, 0.3));
    ASSERT_TRUE(log({point("f1", 1, 3)}));
    EXPECT_EQ(history_->count_metrics(id_).value(), 3);
    ASSERT_TRUE(log({point("f1", 2, 4)}));
    EXPECT_EQ(history_->find_metric(id_, "f1").value()->point.value, 2);
    ASSERT_TRUE(log({point("f1", 3, 5)}));
    EXPECT_THAT(history_->metric_curve(id_, "f1", 10).value(), SizeIs(3));
    EXPECT_EQ(history_->log_points(RunId::make(), {}).error().kind(), ErrorKind::not_found);
}

TEST_F(PointsTest, KeysKnowTheOrderInWhichTheyWereFirstLogged)
{
    const auto in_order = [this] {
        auto latest = history_->latest_metrics(id_).value();
        std::ranges::sort(latest, {}, &LatestMetric::place);
        std::vector<std::string> keys;
        for (const auto& each : latest)
            keys.push_back(each.point.key);
        return keys;
    };
    ASSERT_TRUE(log({point("zeta", 1, 1), point("acc", 1, 1)}));
    ASSERT_TRUE(log({point("zeta", 2, 2), point("loss", 1, 2)}));
    EXPECT_THAT(in_order(), ElementsAre("zeta", "acc", "loss"));

    ASSERT_TRUE(history_->compact_all());
    ASSERT_TRUE(log({point("mse", 1, 3), point("acc", 2, 3), point("beta", 1, 3)}));
    EXPECT_THAT(in_order(), ElementsAre("zeta", "acc", "loss", "mse", "beta"));
}

TEST_F(PointsTest, ASearchSeesWhatWasLogged)
{
    RunSearch search;
    search.filter = query::search::parse_filter(query::search::runs, "metrics.loss < 0.5").value();
    ASSERT_TRUE(log({point("loss", 0.9, 1)}));
    EXPECT_THAT(history_->search_runs(search).value().runs, IsEmpty());

    ASSERT_TRUE(log({point("loss", 0.4, 2)}));

    EXPECT_THAT(history_->search_runs(search).value().runs, SizeIs(1));
}

TEST_F(PointsTest, ATailOutlivesItsProcessAndIsCompactedOnce)
{
    ASSERT_TRUE(log({point("loss", 0.5, 1)}));
    ASSERT_TRUE(log({point("loss", 0.4, 2)}));
    EXPECT_EQ(rows("count(*) FROM tail"), 2);
    EXPECT_EQ(rows("count(*) FROM metric"), 0);

    reopen();

    EXPECT_THAT(values("loss"), ElementsAre(0.5, 0.4));
    ASSERT_TRUE(history_->compact_all());
    EXPECT_THAT(values("loss"), ElementsAre(0.5, 0.4));
    reopen();
    EXPECT_THAT(values("loss"), ElementsAre(0.5, 0.4));
    EXPECT_EQ(rows("count(*) FROM tail"), 0);
}

TEST_F(PointsTest, ATailIsCompactedWhenItsRunEndsAndOnDemand)
{
    const auto other = add().id;
    ASSERT_TRUE(log({point("loss", 0.5, 1)}));
    ASSERT_TRUE(history_->log_points(other, std::vector{point("loss", 0.5, 1)}));
    finish(id_);
    EXPECT_EQ(rows("count(*) FROM tail"), 1);
    reopen();

    ASSERT_TRUE(history_->compact_all());

    EXPECT_EQ(rows("count(*) FROM tail"), 0);
    EXPECT_EQ(rows("count(*) FROM metric"), 2);
}

TEST_F(PointsTest, ATailDoesNotGrowWithoutEnd)
{
    for (std::int64_t i = 0; i < 60; ++i)
        ASSERT_TRUE(log({{"note", 0, std::string(100'000, 'x'), i, i}}));

    // It is compacted beside: nobody who logs waits for it.
    const auto reader = db::Connection::open(folder_ / "history.db", db::Role::reader).value();
    const auto in_tail = [&reader] {
        return reader->query_integer("SELECT coalesce(sum(length(data)), 0) FROM tail").value();
    };
    const auto limit = after(std::chrono::seconds(60));
    while (in_tail() >= 5 << 20 && Deadline::clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_LT(in_tail(), 5 << 20);
    EXPECT_GT(rows("count(*) FROM chunk"), 3);
    reopen();
    EXPECT_EQ(history_->find_metric(id_, "note").value()->count, 60);
    EXPECT_EQ(history_->metric_points(id_, "note", 59, 1).value().at(0).text->size(), 100'000U);
}

TEST_F(PointsTest, ARunWithManyRowsIsCompactedBeside)
{
    const auto other = add().id;
    ASSERT_TRUE(history_->log_points(other, std::vector{point("loss", 0.5, 1)}));
    for (std::int64_t i = 0; i < 1000; ++i)
        ASSERT_TRUE(log({point("loss", 1, i)}));

    const auto reader = db::Connection::open(folder_ / "history.db", db::Role::reader).value();
    const auto in_tail = [&reader] {
        return reader->query_integer("SELECT count(*) FROM tail").value();
    };
    const auto limit = after(std::chrono::seconds(60));
    while (in_tail() != 1 && Deadline::clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(in_tail(), 1) << "that of the other run stays";
    EXPECT_EQ(history_->find_metric(id_, "loss").value()->count, 1000);
}

TEST_F(PointsTest, ADeletedRunTakesItsTailAndItsChunksAlong)
{
    ASSERT_TRUE(log({point("loss", 0.5, 1)}));
    EXPECT_THAT(values("loss"), SizeIs(1));
    finish(id_);
    ASSERT_TRUE(log({point("loss", 0.4, 2)}));
    ASSERT_TRUE(history_->delete_run(id_));
    EXPECT_TRUE(history_->compact_all());

    EXPECT_EQ(rows("count(*) FROM tail"), 0);
    EXPECT_EQ(rows("count(*) FROM chunk"), 0);
}

TEST_F(PointsTest, APointThatIsThereStaysOne)
{
    const double nan = std::nan("");
    ASSERT_TRUE(log({point("x", 1, 1, 10), point("x", 1, 1, 10), point("x", nan, 1, 10)}));
    EXPECT_THAT(values("x"), SizeIs(2));

    // Again, in another order, with others among them.
    ASSERT_TRUE(log({point("x", 2, 2, 20),
                     point("x", nan, 1, 10),
                     point("x", 1, 1, 10),
                     point("x", 1, 1, 11),
                     point("x", 2, 2, 20),
                     point("x", 0.0, 3, 1),
                     point("x", -0.0, 3, 1)}));
    ASSERT_TRUE(history_->record_metrics(id_, {"m", 0, 1, {point("x", 2, 2, 20)}}));

    EXPECT_THAT(values("x"), ElementsAre(1, testing::IsNan(), 2, 1, 0));
    EXPECT_EQ(history_->find_metric(id_, "x").value()->count, 5);
    const MetricPoint text{"t", 0, "a", 1, 1};
    const MetricPoint other{"t", 0, "b", 1, 1};
    ASSERT_TRUE(log({text, other, text}));
    EXPECT_THAT(history_->metric_series(id_, "t").value(), SizeIs(2));
}

TEST_F(PointsTest, TheLatestIsTheGreatestByStepTimeAndValue)
{
    const auto latest = [&] { return history_->find_metric(id_, "x").value()->point.value; };
    const double nan = std::nan("");

    ASSERT_TRUE(log({point("x", 2, 5, 10), point("x", 1, 5, 10), point("x", 9, 4, 99)}));
    EXPECT_EQ(latest(), 2);
    ASSERT_TRUE(log({point("x", nan, 5, 10)}));
    EXPECT_EQ(latest(), 2);
    ASSERT_TRUE(log({point("x", -1, 6, 0)}));
    EXPECT_EQ(latest(), -1);
    ASSERT_TRUE(log({point("x", nan, 6, 0)}));
    EXPECT_TRUE(std::isnan(latest()));
    ASSERT_TRUE(log({point("x", -2, 6, 0)}));
    EXPECT_TRUE(std::isnan(latest()));
    ASSERT_TRUE(log({point("x", 0.5, 6, 0)}));
    EXPECT_EQ(latest(), 0.5);
    ASSERT_TRUE(log({{"x", 0, "text", 6, 0}}));
    EXPECT_EQ(history_->find_metric(id_, "x").value()->point.text, "text");
}

// Single points, small and large pieces, all in order and then one after the other again.
TEST_F(PointsTest, PiecesOfAllSizesMakeOneSeries)
{
    std::int64_t next = 0;
    const auto add_some = [&](std::int64_t count) {
        std::vector<MetricPoint> points;
        for (const auto end = next + count; next < end; ++next)
            points.push_back(point("x", static_cast<double>(next), next, 1000 + next));
        ASSERT_TRUE(log(points));
        ASSERT_TRUE(history_->compact_all());
    };
    for (int i = 0; i < 70; ++i)
        add_some(1);
    for (const int count : {5000, 1, 2, 3, 100, 4096, 7, 9000, 1, 1, 1})
        add_some(count);

    const auto series = values("x");

    ASSERT_EQ(series.size(), static_cast<std::size_t>(next));
    for (std::size_t i = 0; i < series.size(); ++i)
        ASSERT_EQ(series[i], static_cast<double>(i));
    EXPECT_EQ(history_->metric_points(id_, "x", 6000, 5).value().at(4).step, 6004);
    EXPECT_THAT(history_->metric_points(id_, "x", next, 5).value(), IsEmpty());
    ASSERT_TRUE(log({point("x", 17, 17, 1017), point("x", 9001, 9001, 10'001)}));
    EXPECT_THAT(values("x"), SizeIs(static_cast<std::size_t>(next)));
    EXPECT_LT(rows("count(*) FROM chunk"), 20);
}

// A database as version 5 left it, whose conversion was cut short behind the first key.
TEST_F(PointsTest, RowsOfOlderVersionsBecomeChunks)
{
    ASSERT_TRUE(history_->record_metrics(id_, {"m", 0, 1, {point("done", 7, 1)}}));
    history_.reset();
    {
        const auto database =
            db::Database::open({.folder = folder_, .name = "history", .schema = history_schema()})
                .value();
        ASSERT_TRUE(database->write(db::Durability::disk, [](db::Connection& writer) {
            return writer.execute(
                "INSERT INTO metric(row, run, key, count, value, step, time)"
                " SELECT 50, row, 'old', 10000, 9999.5, 9999, 19999 FROM run;"
                "INSERT INTO metric(row, run, key, count, text, step, time)"
                " SELECT 51, row, 'note', 3, 'b', 2, 2 FROM run;"
                "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)"
                " INSERT INTO point(metric, number, step, time, value)"
                " SELECT 50, i + 1, i, 10000 + i, CASE i WHEN 5 THEN NULL ELSE i + 0.5 END FROM n;"
                "INSERT INTO point(metric, number, step, time, value, text)"
                " VALUES(51, 1, 1, 1, 0, 'a'), (51, 2, 2, 2, 0, 'b'), (51, 3, 2, 2, 0, 'b')");
        }));
    }

    reopen();

    const auto series = history_->metric_series(id_, "old").value();
    ASSERT_THAT(series, SizeIs(10'000));
    EXPECT_TRUE(std::isnan(series[5].value));
    EXPECT_EQ(series[9999].value, 9999.5);
    EXPECT_EQ(series[9999].time, 19'999);
    EXPECT_EQ(history_->metric_series(id_, "note").value().at(1).text, "b");
    EXPECT_THAT(history_->metric_series(id_, "note").value(), SizeIs(3));
    EXPECT_THAT(values("done"), ElementsAre(7));
    ASSERT_TRUE(log({point("old", 1, 10'000, 20'000), point("old", 3.5, 3, 10'003)}));
    EXPECT_EQ(history_->find_metric(id_, "old").value()->count, 10'001);
    EXPECT_EQ(rows("count(*) FROM point"), 0);
}

TEST_F(PointsTest, WhoeverLogsSeesItsOwnPointsWhateverOthersDo)
{
    constexpr int threads = 8;
    constexpr int each = 40;
    std::atomic<int> missed = 0;
    {
        std::vector<std::jthread> running;
        for (int t = 0; t < threads; ++t) {
            running.emplace_back([&, t] {
                const auto key = "k" + std::to_string(t);
                for (int i = 0; i < each; ++i) {
                    const std::vector one{point(key, i, i), point("all", t * each + i, 0, t)};
                    if (!history_->log_points(id_, one)) ++missed;
                    if (i % 4 != 0) continue;
                    const auto seen = history_->find_metric(id_, key);
                    if (!seen || !*seen || (*seen)->count != i + 1) ++missed;
                }
            });
        }
    }

    EXPECT_EQ(missed, 0);
    EXPECT_THAT(values("all"), SizeIs(threads * each));
    EXPECT_TRUE(history_->check_integrity());
}

TEST_F(PointsTest, AReadEndsWhenItsClientHasLeft)
{
    ASSERT_TRUE(log({point("loss", 0.5, 1)}));
    ASSERT_TRUE(history_->compact_all());
    WorkBudget left;
    left.abandon();
    {
        const WorkScope scope(&left);
        const auto series = history_->metric_series(id_, "loss");
        ASSERT_FALSE(series);
        EXPECT_EQ(series.error().kind(), ErrorKind::cancelled);
        EXPECT_TRUE(log({point("loss", 0.25, 2)})) << "what was sent is stored";
    }
    EXPECT_THAT(values("loss"), ElementsAre(0.5, 0.25));
}

TEST_F(PointsTest, ATailIsCompactedAWhileAfterItCame)
{
    ASSERT_TRUE(log({point("loss", 0.5, 1)}));
    reopen();
    const auto wait_until_compacted = [this] {
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (HistoryAccess::uncompacted_bytes(*history_) > 0) {
            ASSERT_LT(std::chrono::steady_clock::now(), end);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };

    history_->compact_later(std::chrono::milliseconds(1));
    wait_until_compacted();
    ASSERT_TRUE(log({point("loss", 0.4, 2)}));
    wait_until_compacted();

    EXPECT_THAT(values("loss"), ElementsAre(0.5, 0.4));
    EXPECT_EQ(rows("count(*) FROM tail"), 0);
}

TEST_F(PointsTest, PointsThatWereNotCommittedAreNotCounted)
{
    ASSERT_TRUE(history_->compact_all());
    Tracking tracking(*history_);
    Logged logged;
    logged.points.add("loss", 0.5, 1, 1);
    logged.model_metrics.push_back({.model = "m-none", .key = "loss"});

    EXPECT_FALSE(tracking.log(id_.text(), logged, Into::any));

    EXPECT_EQ(HistoryAccess::uncompacted_bytes(*history_), 0U);
    logged.model_metrics.clear();
    ASSERT_TRUE(tracking.log(id_.text(), logged, Into::any));
    EXPECT_GT(HistoryAccess::uncompacted_bytes(*history_), 0U);
    EXPECT_THAT(values("loss"), ElementsAre(0.5));
    EXPECT_GT(HistoryAccess::uncompacted_bytes(*history_), 0U) << "a read changes nothing";
    ASSERT_TRUE(history_->compact_all());
    EXPECT_EQ(HistoryAccess::uncompacted_bytes(*history_), 0U);
}

}  // namespace
}  // namespace ponk::store
