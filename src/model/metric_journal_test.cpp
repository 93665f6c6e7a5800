// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"
#include "base/work_count.hpp"
#include "model/metric_journal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

namespace ponk::model {
namespace {

std::string metric(const std::string& key, double value, int step)
{
    return journal_record(
        JsonObject{{"metric", key}, {"value", value}, {"step", step}, {"time", 5}});
}

TEST(MetricJournal, ReadsEveryKindOfRecord)
{
    const auto text =
        journal_record(JsonObject{{"journal", 1}, {"pid", 7}}) + metric("loss", 0.25, 3) +
        journal_record(JsonObject{{"metric", "note"}, {"text", "fine"}, {"step", 1}}) +
        journal_record(
            JsonObject{{"metric", "acc"}, {"values", JsonArray{1, 0.5, "NaN"}}, {"step", 10}}) +
        journal_record(JsonObject{{"param", "lr"}, {"value", "0.1"}}) +
        journal_record(JsonObject{{"tag", "a\nb"}, {"value", "x\x1ey"}}) +
        journal_record(JsonObject{{"artifact", "plot.png"}, {"kind", "image"}});

    const auto piece = read_journal(text, 100);

    EXPECT_EQ(piece.next, 100 + text.size());
    EXPECT_EQ(piece.damaged, 0U);
    ASSERT_EQ(piece.points.size(), 5U);
    EXPECT_EQ(piece.points[0].key, "loss");
    EXPECT_EQ(piece.points[0].value, 0.25);
    EXPECT_EQ(piece.points[0].step, 3);
    EXPECT_EQ(piece.points[1].text, "fine");
    EXPECT_EQ(piece.points[1].form, MetricPoint::Form::single);
    EXPECT_EQ(piece.points[3].step, 11);
    EXPECT_EQ(piece.points[3].form, MetricPoint::Form::list);
    EXPECT_TRUE(std::isnan(piece.points[4].value));
    ASSERT_EQ(piece.params.size(), 1U);
    ASSERT_EQ(piece.tags.size(), 1U);
    EXPECT_EQ(piece.tags[0].first, "a\nb");
    EXPECT_EQ(piece.tags[0].second, "x\x1ey");
    ASSERT_EQ(piece.artifacts.size(), 1U);
    EXPECT_EQ(piece.artifacts[0].kind, "image");
}

TEST(MetricJournal, RecordOfManyPointsIsReadWhollyOrNotAtAll)
{
    const auto good = journal_record(
        JsonObject{{"points", JsonArray{JsonArray{"a", 0.5, 1, 7}, JsonArray{"b", "NaN", -2, 8}}},
                   {"tensorboard", "outputs/events"}});
    const auto bad = journal_record(
        JsonObject{{"points", JsonArray{JsonArray{"c", 0.5, 1, 7}, JsonArray{"d", "x", 2, 8}}}});

    const auto piece = read_journal(good + bad, 0);

    EXPECT_EQ(piece.damaged, bad.size());
    ASSERT_EQ(piece.points.size(), 2U);
    EXPECT_EQ(piece.points[0].key, "a");
    EXPECT_EQ(piece.points[0].value, 0.5);
    EXPECT_EQ(piece.points[0].step, 1);
    EXPECT_EQ(piece.points[0].time, 7);
    EXPECT_TRUE(std::isnan(piece.points[1].value));
    EXPECT_EQ(piece.points[1].step, -2);
}

TEST(MetricJournal, ValueWithoutANameIsNoMetric)
{
    const auto piece = read_journal(metric("", 1, 0) + metric("loss", 2, 0), 0);

    EXPECT_EQ(piece.damaged, 0U);
    ASSERT_EQ(piece.points.size(), 1U);
    EXPECT_EQ(piece.points[0].key, "loss");
}

TEST(MetricJournal, NamesAreKeptAsClientsMaySendThem)
{
    std::string name;
    for (std::size_t i = 0; i < longest_logged_name; ++i)
        name += "ü";
    EXPECT_EQ(logged_name(name), name);
    EXPECT_EQ(logged_name(name + "ü"), name);
    EXPECT_EQ(logged_name("a\nb\x7f"), "a b ");
}

TEST(MetricJournal, OddStepsAreDamage)
{
    for (const Json& step : {Json(1e30), Json("1"), Json(1.5)}) {
        const auto odd = journal_record(JsonObject{{"metric", "a"}, {"value", 1}, {"step", step}});
        EXPECT_EQ(read_journal(odd, 0).damaged, odd.size());
    }
}

TEST(MetricJournal, ReadsTheGoldenFile)
{
    std::ifstream file(PONK_SOURCE "/tests/golden/metrics.journal", std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();

    const auto piece = read_journal(text.str(), 0);

    ASSERT_EQ(piece.points.size(), 6U);
    EXPECT_EQ(piece.damaged, 0U);
    EXPECT_EQ(piece.points[0].key, "loss");
    EXPECT_EQ(piece.points[0].value, 0.3);
    EXPECT_EQ(piece.points[0].step, 7);
    EXPECT_TRUE(std::isinf(piece.points[5].value));
    EXPECT_EQ(piece.params.size(), 1U);
    EXPECT_EQ(piece.tags.size(), 1U);
    EXPECT_EQ(piece.artifacts.size(), 1U);
}

// A kill can cut the file at any byte; what was whole before stays, nothing is made up.
TEST(MetricJournal, ACutAtAnyByteLosesOnlyTheRecordItHits)
{
    std::string text;
    std::vector<std::size_t> ends;
    for (int i = 0; i < 8; ++i) {
        text += metric("k\"\\\n" + std::to_string(i), i / 3.0, i);
        ends.push_back(text.size());
    }

    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        const auto piece = read_journal(std::string_view(text).substr(0, cut), 0);
        const auto whole = static_cast<std::size_t>(
            std::upper_bound(ends.begin(), ends.end(), cut) - ends.begin());
        ASSERT_EQ(piece.points.size(), whole) << cut;
        EXPECT_EQ(piece.damaged, 0U);
        EXPECT_EQ(piece.next, whole == 0 ? 0 : ends[whole - 1]);
    }
}

TEST(MetricJournal, ReadingInPiecesOfAnySizeGivesTheSame)
{
    std::string text;
    for (int i = 0; i < 300; ++i)
        text += metric("m", i, i);
    std::mt19937 random(7);

    for (int round = 0; round < 10; ++round) {
        std::uint64_t next = 0;
        std::size_t visible = 0;
        std::vector<double> values;
        while (visible < text.size()) {
            visible = std::min(text.size(), visible + 1 + random() % 200);
            const auto piece =
                read_journal(std::string_view(text).substr(next, visible - next), next);
            for (const auto& point : piece.points)
                values.push_back(point.value);
            next = piece.next;
        }
        ASSERT_EQ(values.size(), 300U);
        for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(values[i], static_cast<double>(i));
    }
}

TEST(MetricJournal, APieceEndsWithTheRecordThatFillsIt)
{
    std::string bytes;
    for (int i = 0; i < 10; ++i)
        bytes += journal_record(JsonObject{
            {"metric", "x"}, {"values", JsonArray(3, Json(1))}, {"step", 3 * i}, {"time", 1}});
    std::uint64_t at = 0;
    std::vector<std::size_t> sizes;
    for (;;) {
        const auto piece = read_journal(std::string_view(bytes).substr(at), at, 7);
        if (piece.next == at) break;
        at = piece.next;
        sizes.push_back(piece.points.size());
    }

    EXPECT_EQ(at, bytes.size());
    EXPECT_EQ(sizes, (std::vector<std::size_t>{9, 9, 9, 3}));
}

TEST(MetricJournal, GoesOnBehindATornRecord)
{
    const auto first = metric("a", 1, 1);
    const auto torn = metric("b", 2, 2).substr(0, 20);
    const auto last = metric("c", 3, 3);

    const auto piece = read_journal(first + torn + last, 0);

    ASSERT_EQ(piece.points.size(), 2U);
    EXPECT_EQ(piece.points[1].key, "c");
    EXPECT_EQ(piece.damaged, torn.size());
}

TEST(MetricJournal, AFlippedByteNeverChangesAValue)
{
    const auto text = metric("loss", 1234.5, 1) + metric("loss", 6789.5, 2);

    for (std::size_t at = 0; at < text.size(); ++at) {
        for (const char flip : {'\x01', '\x20', '\x7f'}) {
            auto bad = text;
            bad[at] = static_cast<char>(bad[at] ^ flip);
            for (const auto& point : read_journal(bad, 0).points)
                EXPECT_TRUE(point.value == 1234.5 || point.value == 6789.5) << at;
        }
    }
}

TEST(MetricJournal, AStretchWithoutEndIsGivenUp)
{
    const std::string endless = "\x1e" + std::string(journal_record_limit + 10, 'x');

    const auto piece = read_journal(endless, 0);

    EXPECT_EQ(piece.next, endless.size());
    EXPECT_EQ(piece.damaged, endless.size());
}

TEST(MetricJournal, WhatIsAboutARunThatTheScriptMadeIsNoneOfThisRun)
{
    const auto piece =
        read_journal(journal_record(JsonObject{{"of", "r"}, {"metric", "m"}, {"value", 1}}) +
                         journal_record(JsonObject{{"metric", "m"}, {"value", 2}}),
                     0);

    ASSERT_EQ(piece.points.size(), 1U);
    EXPECT_EQ(piece.points[0].value, 2);
    ASSERT_EQ(piece.tracked.size(), 1U);
    EXPECT_EQ(piece.tracked[0].text("of"), "r");
}

TEST(MetricJournal, ModelsInputsAndQuestionsKeepTheirOrder)
{
    const auto piece =
        read_journal(journal_record(JsonObject{{"model", "m-1"}, {"name", "net"}}) +
                         journal_record(JsonObject{
                             {"metric", "acc"}, {"value", 1}, {"step", 2}, {"model_id", "m-1"}}) +
                         journal_record(JsonObject{{"model", "m-1"}, {"untag", "a"}}) +
                         journal_record(JsonObject{{"dataset", JsonObject{{"name", "d"}}}}) +
                         journal_record(JsonObject{{"model_output", "m-1"}, {"step", 1}}) +
                         journal_record(JsonObject{{"ask", "1"}, {"method", "GET"}}) +
                         journal_record(JsonObject{{"withdrawn", "1"}}),
                     0);

    ASSERT_EQ(piece.tracked.size(), 5U);
    EXPECT_EQ(piece.tracked[0].text("name"), "net");
    EXPECT_EQ(piece.tracked[1].text("metric"), "acc");
    EXPECT_EQ(piece.tracked[2].text("untag"), "a");
    ASSERT_EQ(piece.points.size(), 1U) << "a model's metric is the run's, too";
    EXPECT_EQ(piece.points[0].key, "acc");
    EXPECT_TRUE(piece.untags.empty());
    ASSERT_EQ(piece.asks.size(), 2U);
    EXPECT_EQ(piece.asks[1].text("withdrawn"), "1");
    EXPECT_EQ(piece.damaged, 0U);
}

TEST(MetricJournal, ATagIsAsItsLastRecordLeavesIt)
{
    const auto tag = [](const char* key) {
        return journal_record(JsonObject{{"tag", key}, {"value", "v"}});
    };
    const auto untag = [](const char* key) { return journal_record(JsonObject{{"untag", key}}); };
    const auto piece = read_journal(tag("a") + untag("a") + untag("b") + tag("b"), 0);

    ASSERT_EQ(piece.tags.size(), 1U);
    EXPECT_EQ(piece.tags[0].first, "b");
    EXPECT_EQ(piece.untags, std::vector<std::string>{"a"});
}

TEST(MetricJournal, ManyTagsThatComeAndGoTakeAStepEach)
{
    constexpr std::size_t count = 3'000;
    std::string bytes;
    for (const char* word : {"tag", "untag", "tag"}) {
        for (std::size_t i = 0; i < count; ++i)
            bytes += journal_record(JsonObject{{word, "key" + std::to_string(i)}});
    }
    const WorkCount work;
    const auto piece = read_journal(bytes, 0);

    EXPECT_EQ(piece.tags.size(), count);
    EXPECT_TRUE(piece.untags.empty());
    // Records, their values and the members that were looked for in each.
    EXPECT_LT(work.steps(), 3 * count * 40);
}

TEST(MetricJournal, APieceOfTagsEndsAsOneOfPointsDoes)
{
    const auto one = journal_record(JsonObject{{"tag", "a"}, {"value", "b"}});
    const auto param = journal_record(JsonObject{{"param", "a"}, {"value", "b"}});

    EXPECT_EQ(read_journal(one + one + one, 0, 2).next, 2 * one.size());
    EXPECT_EQ(read_journal(param + param + param, 0, 2).next, 2 * param.size());
}

TEST(MetricJournal, ATimeBefore1970IsNone)
{
    const auto piece = read_journal(
        journal_record(JsonObject{{"metric", "a"}, {"value", 1}, {"time", -5}}) +
            journal_record(JsonObject{{"points", JsonArray{Json(JsonArray{"b", 1, -2, -3})}}}),
        0);

    ASSERT_EQ(piece.points.size(), 2U);
    EXPECT_EQ(piece.points[0].time, 0);
    EXPECT_EQ(piece.points[1].time, 0);
    EXPECT_EQ(piece.points[1].step, -2);
}

TEST(MetricJournal, AScanStopsWhereItIsToldTo)
{
    const auto one = journal_record(JsonObject{{"metric", "m"}, {"value", 1}});
    int seen = 0;
    const auto scan = scan_journal(
        one + one,
        10,
        [&seen](std::string_view) {
            ++seen;
            return true;
        },
        [&seen] { return seen == 1; });

    EXPECT_EQ(scan.next, 10 + one.size());
    EXPECT_EQ(scan.damaged, 0U);
}

}  // namespace
}  // namespace ponk::model
