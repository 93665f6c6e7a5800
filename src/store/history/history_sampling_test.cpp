// SPDX-License-Identifier: Apache-2.0
// What MLflow's clients get of long series. The expected answers are those of MLflow 3.17's own
// store, asked with the same points.
#include "store/history/history_test_support.hpp"
#include "store/points/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace ponk::store {
namespace {

using model::MetricPoint;
using testing::ElementsAre;
using testing::IsEmpty;

std::string text_of(const std::vector<MetricPoint>& points)
{
    std::string text;
    for (const auto& point : points)
        text += fmt::format("({} {} {})", point.step, point.time, point.value);
    return text;
}

MetricPoint point(double value, std::int64_t time, std::int64_t step)
{
    return {"k", value, std::nullopt, step, time};
}

class SamplingTest : public HistoryTest {
protected:
    void log(const std::vector<MetricPoint>& points)
    {
        ASSERT_TRUE(history_->log_points(id_, points));
        ASSERT_TRUE(history_->compact_all());
    }
    [[nodiscard]] std::string sampled(std::size_t most,
                                      const std::optional<StepRange>& range = std::nullopt) const
    {
        return text_of(history_->sampled_history(id_, "k", range, most).value());
    }
    // All pages of that size; "|" between them.
    [[nodiscard]] std::string pages(std::size_t limit) const
    {
        std::string text;
        std::string after;
        do {
            const auto page = history_->metric_history(id_, "k", after, limit).value();
            text += (text.empty() ? "" : "|") + text_of(page.points);
            after = page.next;
        } while (!after.empty());
        return text;
    }
    [[nodiscard]] std::string without_bars(std::string text) const
    {
        std::erase(text, '|');
        return text;
    }

    RunId id_ = add().id;
};

TEST_F(SamplingTest, TakesTheFirstOfEachGroupAndTheLastOfAll)
{
    for (int i = 0; i < 10; ++i)
        log({point(i * 0.5, 1000 + i, i)});

    EXPECT_EQ(sampled(1), "(9 1009 4.5)");
    EXPECT_EQ(sampled(2), "(0 1000 0)(9 1009 4.5)");
    EXPECT_EQ(sampled(3), "(0 1000 0)(4 1004 2)(9 1009 4.5)");
    EXPECT_EQ(sampled(4), "(0 1000 0)(3 1003 1.5)(6 1006 3)(9 1009 4.5)");
    EXPECT_EQ(sampled(7),
              "(0 1000 0)(2 1002 1)(4 1004 2)(6 1006 3)(7 1007 3.5)(8 1008 4)(9 1009 4.5)");
    EXPECT_EQ(sampled(11),
              "(0 1000 0)(1 1001 0.5)(2 1002 1)(3 1003 1.5)(4 1004 2)(5 1005 2.5)(6 1006 3)"
              "(7 1007 3.5)(8 1008 4)(9 1009 4.5)");
    EXPECT_EQ(sampled(3, StepRange{2, 8}), "(2 1002 1)(5 1005 2.5)(8 1008 4)");
    EXPECT_EQ(sampled(2, StepRange{9, 20}), "(9 1009 4.5)");
    EXPECT_EQ(sampled(5, StepRange{20, 30}), "");
    EXPECT_EQ(sampled(0), sampled(1));
}

TEST_F(SamplingTest, OrdersWhatCameInDisorder)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<MetricPoint> wild{point(5, 30, 2),
                                        point(1, 10, 2),
                                        point(nan, 10, 2),
                                        point(0, 10, 2),
                                        point(-1, 10, 2),
                                        point(7, 50, 1),
                                        point(3, 40, 0),
                                        point(2, 20, 0),
                                        point(2, 20, 0),
                                        point(9, 60, 5),
                                        point(8, 5, 5)};
    log({wild.begin(), wild.begin() + 3});
    log({wild.begin() + 3, wild.begin() + 4});
    log({wild.begin() + 4, wild.end()});
    ASSERT_TRUE(history_->log_points(id_, std::vector<MetricPoint>{{"k", 0, "a text", 2, 10}}));

    EXPECT_EQ(sampled(1), "(5 60 9)");
    EXPECT_EQ(sampled(2), "(0 20 2)(5 60 9)");
    EXPECT_EQ(sampled(3), "(0 20 2)(2 10 0)(5 60 9)");
    EXPECT_EQ(sampled(4), "(0 20 2)(2 10 -1)(2 10 1)(5 60 9)");
    EXPECT_EQ(sampled(5), "(0 20 2)(1 50 7)(2 10 0)(2 10 1)(5 60 9)");
    EXPECT_EQ(sampled(20),
              "(0 20 2)(0 40 3)(1 50 7)(2 10 -1)(2 10 0)(2 10 nan)(2 10 1)(2 30 5)(5 5 8)(5 60 9)");
    EXPECT_EQ(sampled(2, StepRange{1, 2}), "(1 50 7)(2 30 5)");
    EXPECT_EQ(pages(100),
              "(5 5 8)(2 10 -1)(2 10 0)(2 10 nan)(2 10 1)(0 20 2)(2 30 5)(0 40 3)(1 50 7)(5 60 9)");
    for (std::size_t limit = 1; limit < 11; ++limit)
        EXPECT_EQ(without_bars(pages(limit)), pages(100)) << limit;
    EXPECT_EQ(
        pages(4),
        "(5 5 8)(2 10 -1)(2 10 0)(2 10 nan)|(2 10 1)(0 20 2)(2 30 5)(0 40 3)|(1 50 7)(5 60 9)");
}

TEST_F(SamplingTest, OrdersByTimeWhereNobodyGaveAStep)
{
    for (int i = 0; i < 8; ++i)
        log({point(i, 100 - i, 0)});

    EXPECT_EQ(sampled(3), "(0 93 7)(0 96 4)(0 100 0)");
    EXPECT_EQ(sampled(3, StepRange{0, 0}), "(0 93 7)(0 96 4)(0 100 0)");
    EXPECT_EQ(pages(8), "(0 93 7)(0 94 6)(0 95 5)(0 96 4)(0 97 3)(0 98 2)(0 99 1)(0 100 0)");
}

TEST_F(SamplingTest, WhatIsNotThereHasNoPoints)
{
    log({point(1, 1, 1)});

    EXPECT_THAT(history_->sampled_history(RunId::make(), "k", {}, 9).value(), IsEmpty());
    EXPECT_THAT(history_->sampled_history(id_, "other", {}, 9).value(), IsEmpty());
    EXPECT_THAT(history_->metric_history(RunId::make(), "k", "", 9).value().points, IsEmpty());
    EXPECT_THAT(history_->metric_history(id_, "other", "", 9).value().points, IsEmpty());
    for (const auto* word : {"x", "%%%", "AAAA", "0"}) {
        const auto refused = history_->metric_history(id_, "k", word, 9);
        ASSERT_FALSE(refused) << word;
        EXPECT_EQ(refused.error().kind(), ErrorKind::invalid_argument);
    }
}

// Series in many chunks, in order and in disorder, against the plain way: sort all, then take.
TEST_F(SamplingTest, ManyChunksGiveWhatSortingAllGives)
{
    std::mt19937_64 random(5);
    std::vector<MetricPoint> all;
    for (int part = 0; part < 8; ++part) {
        std::vector<MetricPoint> some;
        const bool disorder = part == 3 || part == 6;
        for (int i = 0; i < 1500; ++i) {
            const std::int64_t place = part * 1500 + i - (disorder ? 2000 : 0);
            some.push_back(
                point(static_cast<double>(random() % 1000), 5000 + place * 3, place / 2));
        }
        if (disorder) std::shuffle(some.begin(), some.end(), random);
        log(some);
        all.insert(all.end(), some.begin(), some.end());
    }
    all = history_->metric_series(id_, "k").value();  // without what came twice
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::tuple(a.step, a.time, a.value) < std::tuple(b.step, b.time, b.value);
    });
    for (const std::size_t most : {1U, 10U, 999U, 100'000U}) {
        std::vector<MetricPoint> expected;
        for (const auto place :
             sampled_places(static_cast<std::int64_t>(all.size()), static_cast<std::int64_t>(most)))
            expected.push_back(all[static_cast<std::size_t>(place)]);
        EXPECT_EQ(sampled(most), text_of(expected)) << most;
    }
    const StepRange range{700, 3100};
    std::vector<MetricPoint> inside;
    for (const auto& each : all) {
        if (each.step >= range.first && each.step <= range.last) inside.push_back(each);
    }
    EXPECT_EQ(sampled(100'000, range), text_of(inside));
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::tuple(a.time, a.step, a.value) < std::tuple(b.time, b.step, b.value);
    });
    for (const std::size_t limit : {700U, 100'000U})
        EXPECT_EQ(without_bars(pages(limit)), text_of(all)) << limit;
}

TEST(SampledPlacesTest, AreSpreadEvenly)
{
    EXPECT_THAT(sampled_places(0, 5), IsEmpty());
    EXPECT_THAT(sampled_places(1, 5), ElementsAre(0));
    EXPECT_THAT(sampled_places(5, 5), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(sampled_places(10, 4), ElementsAre(0, 3, 6, 9));
    EXPECT_THAT(sampled_places(1'000'000, 2), ElementsAre(0, 999'999));
}

}  // namespace
}  // namespace ponk::store
