// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"
#include "db/database.hpp"
#include "model/logged_limits.hpp"
#include "store/history/history_test_support.hpp"
#include "store/schema/schema.hpp"
#include "store/search/run_filter.hpp"
#include "store/tracking/tracking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ponk::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

model::MetricPoint
point(const std::string& key, double value, std::int64_t step, std::int64_t time = 0)
{
    return {key, value, std::nullopt, step, time};
}

class MetricsTest : public HistoryTest {
protected:
    RunId id_ = add().id;
};

TEST_F(MetricsTest, PointsAndTheirPlaceInTheJournalAreStoredTogether)
{
    ASSERT_TRUE(history_->record_metrics(
        id_, {"m-1", 0, 40, {point("loss", 0.5, 1), point("acc", 0.1, 1), point("loss", 0.4, 2)}}));
    reopen();

    EXPECT_EQ(history_->journal_offset(id_, "m-1").value(), 40U);
    EXPECT_EQ(history_->journal_offset(id_, "m-2").value(), 0U);
    const auto latest = history_->latest_metrics(id_).value();
    ASSERT_THAT(latest, SizeIs(2));
    EXPECT_EQ(latest[0].point.key, "acc");
    EXPECT_EQ(latest[1].point.value, 0.4);
    EXPECT_EQ(latest[1].count, 2);
    const auto series = history_->metric_series(id_, "loss").value();
    ASSERT_THAT(series, SizeIs(2));
    EXPECT_EQ(series[0].value, 0.5);
    EXPECT_EQ(series[1].step, 2);
    EXPECT_THAT(history_->metric_series(id_, "none").value(), IsEmpty());
}

TEST_F(MetricsTest, TagsOfAPieceAreStoredWithItsPlace)
{
    JournalBatch batch{"m", 0, 10, {}};
    batch.tags = {{"param.lr", "0.1"}, {"stage", "draft"}, {"stage", "final"}};

    ASSERT_TRUE(history_->record_metrics(id_, batch));

    using Tags = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(history_->get_run(id_)->tags, (Tags{{"param.lr", "0.1"}, {"stage", "final"}}));
    EXPECT_EQ(history_->journal_offset(id_, "m").value(), 10U);
}

TEST_F(MetricsTest, TagsOfARunHaveALimit)
{
    JournalBatch batch{"m", 0, 10, {}};
    for (std::size_t i = 0; i < model::limits::tags + 3; ++i)
        batch.tags.emplace_back("key" + std::to_string(i), "v");

    EXPECT_EQ(history_->record_metrics(id_, batch).value(), 3U);
    EXPECT_EQ(history_->get_run(id_)->tags.size(), model::limits::tags);

    Tracking tracking(*history_);
    const auto refused = tracking.log(id_.text(), {.tags = {{"one more", "v"}}}, Into::any);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::invalid_argument);
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("at most 20000 tags"));
    EXPECT_TRUE(tracking.log(id_.text(), {.tags = {{"key1", "other"}}}, Into::any));
    ASSERT_TRUE(tracking.delete_tag(id_.text(), "key1"));
    EXPECT_TRUE(tracking.log(id_.text(), {.tags = {{"one more", "v"}}}, Into::any));

    const std::string large(9 << 20, 'v');
    const auto id = add().id;
    const JournalBatch bytes{"m", 0, 10, {}, {{"a", large}, {"b", large}}};
    EXPECT_EQ(history_->record_metrics(id, bytes).value(), 1U);
}

TEST_F(MetricsTest, KeysComeInStretches)
{
    ASSERT_TRUE(history_->record_metrics(
        id_, {"m", 0, 1, {point("", 0, 1), point("a", 1, 1), point("b", 2, 1), point("c", 3, 1)}}));
    const auto keys = [&](const MetricRange& range) {
        std::string text;
        const auto metrics = history_->latest_metrics(id_, range).value();
        for (const auto& metric : metrics)
            text += "<" + metric.point.key + ">";
        return text;
    };

    EXPECT_EQ(keys({}), "<><a><b><c>");
    EXPECT_EQ(keys({.limit = 2}), "<><a>");
    EXPECT_EQ(keys({.after = "a", .limit = 1}), "<b>");
    EXPECT_EQ(keys({.after = "c"}), "");
    EXPECT_EQ(history_->count_metrics(id_).value(), 4);
    EXPECT_EQ(history_->find_metric(id_, "b").value()->point.value, 2);
    EXPECT_FALSE(history_->find_metric(id_, "d").value());
}

TEST_F(MetricsTest, PointsComeInStretchesAndAsACurve)
{
    JournalBatch batch{"m", 0, 1, {}};
    for (int i = 0; i < 5000; ++i)
        batch.points.push_back(point("loss", i == 1234 ? -1.0 : i, i));
    ASSERT_TRUE(history_->record_metrics(id_, batch));

    const auto some = history_->metric_points(id_, "loss", 4990, 100).value();
    ASSERT_THAT(some, SizeIs(10));
    EXPECT_EQ(some[0].step, 4990);
    EXPECT_THAT(history_->metric_points(id_, "loss", 0, 7).value(), SizeIs(7));
    const auto curve = history_->metric_curve(id_, "loss", 50).value();
    ASSERT_LE(curve.size(), 50U);
    EXPECT_EQ(curve.front().step, 0);
    EXPECT_EQ(curve.back().step, 4999);
    EXPECT_TRUE(std::any_of(
        curve.begin(), curve.end(), [](const auto& each) { return each.value == -1.0; }));
    EXPECT_THAT(history_->metric_curve(id_, "none", 50).value(), IsEmpty());
}

TEST_F(MetricsTest, APieceOfAJournalIsStoredOnce)
{
    const JournalBatch batch{"m", 0, 10, {point("loss", 1, 1)}};
    ASSERT_TRUE(history_->record_metrics(id_, batch));

    const auto again = history_->record_metrics(id_, batch);
    const auto gap = history_->record_metrics(id_, {"m", 20, 30, {point("loss", 2, 2)}});

    EXPECT_EQ(again.error().kind(), ErrorKind::conflict);
    EXPECT_THAT(again.error().message(), HasSubstr("stored up to byte 10, not 0"));
    EXPECT_EQ(gap.error().kind(), ErrorKind::conflict);
    EXPECT_FALSE(history_->record_metrics(id_, {"m", 10, 5, {}}));
    EXPECT_THAT(history_->metric_series(id_, "loss").value(), SizeIs(1));
    EXPECT_EQ(history_->record_metrics(RunId::make(), batch).error().kind(), ErrorKind::not_found);
}

TEST_F(MetricsTest, AListComesBackAsOneUnlessItIsVeryLong)
{
    constexpr auto list = model::MetricPoint::Form::list;
    std::vector<model::MetricPoint> points{point("single", 1, 0)};
    for (int i = 0; i < 3; ++i)
        points.push_back({"short", 3.0 - i, std::nullopt, i, 0, list});
    for (int i = 0; i <= longest_list; ++i)
        points.push_back({"very long", 1.0 * i, std::nullopt, i, 0, list});
    ASSERT_TRUE(history_->record_metrics(id_, {"m", 0, 10, points}));
    reopen();

    auto latest = history_->latest_metrics(id_).value();

    ASSERT_THAT(latest, SizeIs(3));
    EXPECT_EQ(latest[0].point.key, "short");
    ASSERT_THAT(latest[0].list, SizeIs(3));
    EXPECT_EQ(latest[0].list[0].value, 3);
    EXPECT_EQ(latest[0].list[2].value, 1);
    EXPECT_EQ(latest[1].point.form, model::MetricPoint::Form::single);
    EXPECT_THAT(latest[1].list, IsEmpty());
    EXPECT_EQ(latest[2].point.form, list);
    EXPECT_THAT(latest[2].list, IsEmpty());
    // What is logged last decides.
    ASSERT_TRUE(history_->record_metrics(id_, {"m", 10, 20, {point("short", 7, 9)}}));
    latest = history_->latest_metrics(id_).value();
    EXPECT_EQ(latest[0].point.form, model::MetricPoint::Form::single);
    EXPECT_THAT(latest[0].list, IsEmpty());
}

TEST_F(MetricsTest, TheLatestHasTheGreatestStepThenTimeThenArrival)
{
    const auto latest = [&] { return history_->latest_metrics(id_).value().at(0).point.value; };

    ASSERT_TRUE(history_->record_metrics(id_, {"m", 0, 1, {point("x", 1, 5, 10)}}));
    ASSERT_TRUE(history_->record_metrics(id_, {"m", 1, 2, {point("x", 2, 4, 99)}}));
    EXPECT_EQ(latest(), 1);
    ASSERT_TRUE(history_->record_metrics(id_, {"m", 2, 3, {point("x", 3, 5, 10)}}));
    EXPECT_EQ(latest(), 3);
    ASSERT_TRUE(history_->record_metrics(id_, {"m", 3, 4, {point("x", 4, 5, 9)}}));
    EXPECT_EQ(latest(), 3);
}

TEST_F(MetricsTest, NumbersThatAreNoneAndTextsComeBack)
{
    const double infinity = std::numeric_limits<double>::infinity();
    model::MetricPoint text{"t", 0, "[1, 2]", 0, 0};
    ASSERT_TRUE(history_->record_metrics(id_,
                                         {"m",
                                          0,
                                          1,
                                          {point("v", std::nan(""), 1),
                                           point("v", infinity, 2),
                                           point("v", -infinity, 3),
                                           point("v", 5e-324, 4),
                                           text}}));

    const auto series = history_->metric_series(id_, "v").value();

    ASSERT_THAT(series, SizeIs(4));
    EXPECT_TRUE(std::isnan(series[0].value));
    EXPECT_EQ(series[1].value, infinity);
    EXPECT_EQ(series[2].value, -infinity);
    EXPECT_EQ(series[3].value, 5e-324);
    EXPECT_EQ(history_->metric_series(id_, "t").value().at(0).text, "[1, 2]");
}

TEST_F(MetricsTest, EventsAreNumberedFromOneAndReadOnFromAny)
{
    EXPECT_EQ(history_->append_event(id_, "progress", "copying").value(), 2);  // 1 is its state
    EXPECT_EQ(history_->append_event(id_, "notice", "caf\xe9").value(), 3);

    const auto later = history_->events(id_, 2).value();

    ASSERT_THAT(later, SizeIs(1));
    EXPECT_EQ(later[0].number, 3);
    EXPECT_EQ(later[0].kind, "notice");
    EXPECT_EQ(later[0].text, "caf\xe9");
    EXPECT_GT(later[0].time, 0);
    EXPECT_THAT(history_->events(id_, 0, 2).value(), SizeIs(2));
}

TEST_F(MetricsTest, DeletingARunLeavesNothingOfIt)
{
    ASSERT_TRUE(history_->record_metrics(id_, {"m", 0, 1, {point("loss", 1, 1)}}));
    ASSERT_TRUE(history_->set_tag(id_, "k", "v"));
    finish(id_);
    ASSERT_TRUE(history_->delete_run(id_));
    history_.reset();

    auto database =
        db::Database::open({.folder = folder_, .name = "history", .schema = history_schema()})
            .value();
    for (const auto* table : {"run", "tag", "metric", "point", "journal", "event"}) {
        const auto rows = database->read([&](db::Connection& reader) {
            return reader.query_integer(fmt::format("SELECT count(*) FROM {}", table));
        });
        EXPECT_EQ(rows.value(), 0) << table;
    }
}

// With 100,000 runs a page must cost as much as with 10: every filter walks an index in the order
// of the answer, nothing is sorted.
TEST_F(MetricsTest, NoFilterSortsOrReadsAllRuns)
{
    history_.reset();
    auto database =
        db::Database::open({.folder = folder_, .name = "history", .schema = history_schema()})
            .value();
    for (unsigned mask = 0; mask < 128; ++mask) {
        RunFilter filter;
        if (mask & 1U) filter.project = "p";
        if (mask & 2U) filter.state = RunState::failed;
        if (mask & 4U) filter.script = "s";
        if (mask & 8U) filter.target = "t";
        if (mask & 16U) filter.before = RunId::make();
        if (mask & 32U) filter.gpu_verdict = "confirmed";
        if (mask & 64U) filter.parent = "r";
        const auto plan = database->read([&](db::Connection& reader) -> Result<std::string> {
            auto statement = TRY(
                reader.prepare("EXPLAIN QUERY PLAN " + filtered_sql(filter, Order::newest_first)));
            std::string lines;
            while (TRY(statement.step()))
                lines += statement.text(3) + "\n";
            return lines;
        });
        ASSERT_TRUE(plan) << plan.error().message();
        EXPECT_EQ(plan->find("TEMP B-TREE"), std::string::npos) << *plan;
        const bool selective = (mask & 111U) != 0;
        EXPECT_TRUE(!selective || plan->find("USING INDEX run_by_") != std::string::npos) << *plan;
        EXPECT_TRUE(mask != 64 || plan->find("run_by_parent") != std::string::npos) << *plan;
    }
}

}  // namespace
}  // namespace ponk::store
