// SPDX-License-Identifier: Apache-2.0
// Reads show what was logged, wherever it is by now, and never write.
#include "doubles/held_writer.hpp"
#include "store/copy/copies.hpp"
#include "store/copy/export_lines.hpp"
#include "store/history/history_access.hpp"
#include "store/search/run_search_test_support.hpp"
#include "store/tracking/tracking.hpp"

#include <random>

namespace ponk::store {
namespace {

using model::MetricPoint;
using testing::ElementsAre;
using testing::SizeIs;

std::string text_of(const MetricPoint& point)
{
    return fmt::format("{}:{}:{}:{}{} ",
                       point.key,
                       point.step,
                       point.time,
                       point.text.value_or(fmt::format("{}", point.value)),
                       point.form == MetricPoint::Form::list ? "L" : "");
}

std::string text_of(const std::vector<MetricPoint>& points)
{
    std::string text;
    for (const auto& point : points)
        text += text_of(point);
    return text + "\n";
}

std::string text_of(const LatestMetric& latest)
{
    return fmt::format("{}x{} {}", text_of(latest.point), latest.count, text_of(latest.list));
}

class ReadsTest : public SearchTest {
protected:
    // All that calls of History and Tracking answer about these runs and keys.
    std::string everything(const std::vector<RunId>& runs, const std::vector<std::string>& keys)
    {
        std::string all;
        for (const auto& id : runs) {
            const auto metrics = history_->latest_metrics(id).value();
            for (const auto& latest : metrics)
                all += text_of(latest);
            const auto second = history_->latest_metrics(id, {"a", 1}).value();
            for (const auto& latest : second)
                all += "second " + text_of(latest);
            all += fmt::format("{} keys\n", history_->count_metrics(id).value());
            for (const auto& key : keys)
                all += everything(id, key);
            all += text_of(Tracking(*history_).get_run(id.text()).value().metrics);
            all += exported(id);
        }
        for (const auto* filter :
             {"", "metrics.a > 1", "metrics.a != 0", "metrics.b <= 1 AND metrics.a >= 0"}) {
            for (const auto& order : std::vector<std::vector<std::string>>{
                     {}, {"metrics.a"}, {"metrics.b DESC", "metrics.a"}, {"tags.t", "metrics.a"}}) {
                const auto search = search_for(filter, order);
                all += fmt::format(
                    "{}|{}|{}\n", names(search), paged(search, 2), tracked_names(search));
            }
        }
        return all;
    }

private:
    std::string everything(const RunId& id, const std::string& key)
    {
        const auto latest = history_->find_metric(id, key).value();
        auto all = latest ? text_of(*latest) : "none\n";
        all += text_of(history_->metric_series(id, key).value());
        all += text_of(history_->metric_points(id, key, 3, 4).value());
        all += text_of(history_->metric_curve(id, key, 6).value());
        all += text_of(history_->sampled_history(id, key, std::nullopt, 5).value());
        all += text_of(history_->sampled_history(id, key, StepRange{2, 6}, 3).value());
        std::string next;
        do {
            const auto page = history_->metric_history(id, key, next, 3).value();
            all += text_of(page.points);
            next = page.next;
        } while (!next.empty());
        return all;
    }
    std::string exported(const RunId& id)
    {
        ExportLines lines(*history_, {.run = id});
        std::string text;
        while (lines.next(text).value()) {
        }
        return text;
    }
    std::string tracked_names(RunSearch search)
    {
        std::string all;
        search.words = RunSearch::Words::mlflow;
        const auto page = Tracking(*history_).search_runs(search).value();
        for (const auto& run : page.runs)
            all += run.name + text_of(run.metrics);
        return all;
    }
};

TEST_F(ReadsTest, AnswerWithTheNewestPointsWhileSomebodyHoldsTheWriter)
{
    add_samples({{"A", {{"a", 1}}}, {"B", {{"a", 5}}}});
    const auto& id = ids_.at("A");
    ASSERT_TRUE(history_->log_points(id, std::vector<MetricPoint>{{"a", 7, {}, 1, 1}}));
    ASSERT_TRUE(history_->log_points(id, std::vector<MetricPoint>{{"new", 2, {}, 1, 1}}));
    const db::HeldWriter held(HistoryAccess::database(*history_));

    EXPECT_THAT(history_->latest_metrics(id).value(), SizeIs(2));
    EXPECT_EQ(history_->count_metrics(id).value(), 2);
    EXPECT_EQ(history_->find_metric(id, "a").value()->point.value, 7);
    EXPECT_THAT(history_->metric_series(id, "a").value(), SizeIs(2));
    EXPECT_THAT(history_->metric_points(id, "a", 1, 9).value(), SizeIs(1));
    EXPECT_THAT(history_->metric_curve(id, "new", 9).value(), SizeIs(1));
    EXPECT_THAT(history_->metric_history(id, "a", "", 9).value().points, SizeIs(2));
    EXPECT_THAT(history_->sampled_history(id, "a", {}, 9).value(), SizeIs(2));
    EXPECT_EQ(found("metrics.a > 6"), "A");
    EXPECT_EQ(found("metrics.a < 6"), "B");
    EXPECT_EQ(found("", {"metrics.a DESC"}), "AB");
    Tracking tracking(*history_);
    EXPECT_THAT(tracking.get_run(id.text()).value().metrics, SizeIs(2));
    EXPECT_THAT(tracking.search_runs(search_for("metrics.new = 2")).value().runs, SizeIs(1));
    EXPECT_TRUE(tracking.search_experiments({}));
    EXPECT_TRUE(history_->get_run(id));
    EXPECT_TRUE(history_->find_state(id));
    EXPECT_TRUE(history_->resolve_run(id.text()));
    EXPECT_THAT(history_->list_runs({}).value().runs, SizeIs(2));
    EXPECT_TRUE(history_->active_runs());
    EXPECT_TRUE(history_->events(id));
    EXPECT_TRUE(history_->projects());
    EXPECT_TRUE(history_->find_project("p1"));
    EXPECT_TRUE(history_->assets("p1"));
    EXPECT_TRUE(history_->journal_offset(id, "m"));
    EXPECT_TRUE(history_->last_integrity_check());
    EXPECT_FALSE(history_->failure());
    EXPECT_TRUE(history_->backup_to(folder_ / "copy.db"));
    Copies look(*history_, Copies::Mode::look);
    RunCopy copy;
    copy.run.id = id;
    EXPECT_FALSE(look.put(1, copy)) << "it has other content";
}

// Points of few steps, times and values, so that many are the same or have the same place; now and
// then a text, a list, NaN.
class RandomLogs {
public:
    explicit RandomLogs(unsigned seed) : random_(seed) {}
    int pick(unsigned n) { return static_cast<int>(random_() % n); }
    std::vector<MetricPoint> points()
    {
        std::vector<MetricPoint> some;
        for (int count = 1 + pick(6); count > 0; --count) {
            const double values[] = {0, -0.0, 1, 2, -3, std::numeric_limits<double>::quiet_NaN()};
            MetricPoint point{std::string(1, "abc"[pick(3)]), values[pick(6)], {}, next_, next_};
            if (pick(3) == 0) point.step = pick(8);
            if (pick(3) == 0) point.time = pick(8);
            if (pick(12) == 0) point.text = pick(2) == 0 ? "x" : "y";
            if (pick(10) == 0) point.form = MetricPoint::Form::list;
            ++next_;
            some.push_back(std::move(point));
        }
        return some;
    }

private:
    std::mt19937 random_;
    std::int64_t next_ = 0;
};

TEST_F(ReadsTest, AnswerTheSameBeforeAndAfterCompaction)
{
    add_samples({{"A", {}, {{"t", "1"}}}, {"B", {}, {{"t", "1"}}}, {"C", {}, {{"t", "0"}}}, {"D"}});
    std::vector<RunId> runs;
    for (const auto& [name, id] : ids_)
        runs.push_back(id);
    for (unsigned seed = 0; seed < 12; ++seed) {
        RandomLogs logs(seed);
        for (int step = 0; step < 8; ++step) {
            const auto& id = runs[static_cast<std::size_t>(logs.pick(4))];
            if (logs.pick(4) == 0) {
                const auto from = history_->journal_offset(id, "m").value();
                ASSERT_TRUE(history_->record_metrics(id, {"m", from, from + 1, logs.points()}));
            } else {
                ASSERT_TRUE(history_->log_points(id, logs.points()));
            }
            const bool now = logs.pick(6) == 0;
            ASSERT_TRUE(!now || history_->compact_all());
        }
        const auto before = everything(runs, {"a", "b", "c"});
        ASSERT_TRUE(history_->compact_all());
        ASSERT_EQ(HistoryAccess::uncompacted_bytes(*history_), 0U);

        ASSERT_EQ(before, everything(runs, {"a", "b", "c"})) << "seed " << seed;
    }
}

TEST_F(ReadsTest, PointsKeepTheirPlaceWhenAJournalComesBehindThem)
{
    add_samples({{"A"}});
    const auto& id = ids_.at("A");
    ASSERT_TRUE(history_->log_points(id, std::vector<MetricPoint>{{"a", 1, {}, 1, 1}}));
    ASSERT_THAT(history_->metric_points(id, "a", 0, 9).value(), SizeIs(1));

    log("A", {{"a", 2, {}, 2, 2}});

    const auto more = history_->metric_points(id, "a", 1, 9).value();
    ASSERT_THAT(more, SizeIs(1));
    EXPECT_EQ(more[0].value, 2);
}

}  // namespace
}  // namespace ponk::store
