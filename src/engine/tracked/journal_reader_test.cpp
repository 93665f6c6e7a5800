// SPDX-License-Identifier: Apache-2.0
// How journals are read: limits, holes, growth.
#include "engine/tracked/journal_reader_test_support.hpp"

namespace ponk::engine {
namespace {

TEST_F(JournalReaders, AGreatManyJournalsAreReadOnceEach)
{
    const auto run = begin_run();
    for (int i = 0; i < 800; ++i)
        put(run, fmt::format("{:0>200}", i), "x");
    put(run, "z", point(1));
    const auto events = history_->events(run)->size();
    JournalReader reader(context_, run);

    EXPECT_LT(read_all(reader), 20) << "a call goes on where the last one ended";

    EXPECT_EQ(last_step(run), 1);
    EXPECT_EQ(reader.findings().size(), 1U) << "one notice, not one for each";
    EXPECT_NE(reader.findings().front().find("800 damaged bytes"), std::string::npos);
    EXPECT_EQ(history_->events(run)->size(), events);
    put(run, "z", point(2));
    EXPECT_EQ(read_all(reader), 1) << "those that did not grow cost nothing";
    EXPECT_EQ(last_step(run), 2);
}

TEST_F(JournalReaders, OnlyThoseBeyondTheLimitAreToldToBeLeftOut)
{
    const auto run = begin_run();
    for (std::size_t i = 0; i < executor::Journals::most; ++i)
        put(run, std::to_string(i), "");
    JournalReader full(context_, run);
    read_all(full);
    EXPECT_TRUE(full.findings().empty()) << full.findings().front();
    put(run, "z", "");
    JournalReader more(context_, run);
    read_all(more);
    ASSERT_EQ(more.findings().size(), 1U);
    EXPECT_NE(more.findings().front().find("too many metric journals"), std::string::npos);
}

TEST_F(JournalReaders, LongNamesAreCutAndTold)
{
    const auto run = begin_run();
    const std::string longest(model::longest_logged_name, 'n');
    put(run,
        "a",
        model::journal_record(
            JsonObject{{"metric", longest + "x"}, {"value", 0.5}, {"step", 1}, {"time", 1000}}) +
            model::journal_record(JsonObject{{"param", "a\nb"}, {"value", "v"}}));
    JournalReader reader(context_, run);

    read_all(reader);

    EXPECT_EQ(history_->latest_metrics(run, {})->front().point.key, longest);
    EXPECT_EQ(store::Tracking(*history_).get_run(run.text())->params.front().first, "a b");
    ASSERT_EQ(reader.findings().size(), 1U);
    EXPECT_NE(reader.findings().front().find("truncated to 250 characters"), std::string::npos);
}

TEST_F(JournalReaders, LongValuesAreCutAndTold)
{
    const auto run = begin_run();
    const std::string longest(model::limits::logged_text, 'v');
    put(run,
        "a",
        model::journal_record(JsonObject{{"param", "p"}, {"value", longest + "x"}}) +
            model::journal_record(JsonObject{{"tag", "t"}, {"value", longest + "x"}}) +
            model::journal_record(JsonObject{{"metric", "m"}, {"text", longest + "x"}}));
    JournalReader reader(context_, run);

    read_all(reader);

    const auto stored = store::Tracking(*history_).get_run(run.text());
    EXPECT_EQ(stored->params.front().second, longest);
    const auto tag = std::find_if(
        stored->tags.begin(), stored->tags.end(), [](const auto& one) { return one.first == "t"; });
    ASSERT_NE(tag, stored->tags.end());
    EXPECT_EQ(tag->second, longest);
    EXPECT_EQ(history_->latest_metrics(run, {})->front().point.text, longest);
    ASSERT_EQ(reader.findings().size(), 1U);
    EXPECT_NE(reader.findings().front().find("truncated to 100000 characters"), std::string::npos);
}

TEST_F(JournalReaders, AHoleIsNoDataAndAJournalHasALimit)
{
    const auto run = begin_run();
    const auto file = context_.run_directory(run).task() / "journal/a";
    put(run, "a", point(1));
    std::filesystem::resize_file(file, std::uint64_t{3} << 30);
    put(run, "a", point(2));
    std::filesystem::resize_file(file, std::uint64_t{20} << 30);
    put(run, "a", point(3));
    JournalReader reader(context_, run);

    EXPECT_LT(read_all(reader), 10);

    EXPECT_EQ(last_step(run), 2);
    ASSERT_EQ(reader.findings().size(), 2U);
    EXPECT_NE(reader.findings()[1].find("'a' has 4.0 GiB or more"), std::string::npos)
        << reader.findings()[1];
}

TEST_F(JournalReaders, WhatGrowsWhileTheRestIsReadIsReadNext)
{
    const auto run = begin_run();
    put(run, "a", point(1));
    for (int i = 0; i < 600; ++i)
        put(run, fmt::format("b{}", i), "x");
    JournalReader reader(context_, run);
    reader.note_length(1);
    ASSERT_EQ(reader.read_some({}), JournalReader::Progress::more);
    EXPECT_TRUE(reader.is_due());
    put(run, "a", point(2));
    reader.note_length(2);

    read_all(reader);

    EXPECT_LT(reader.due(), after(std::chrono::hours(1)));
    read_all(reader);
    EXPECT_EQ(last_step(run), 2);
}

TEST_F(JournalReaders, AJournalIsDueWhenItHasGrownAndNotBefore)
{
    JournalReader reader(context_, RunId::make());
    EXPECT_FALSE(reader.is_due());
    EXPECT_GT(reader.due(), after(std::chrono::hours(1)));

    reader.note_length(10);
    EXPECT_TRUE(reader.is_due());

    reader.read_some({});  // there is no folder: nothing to wait for
    EXPECT_FALSE(reader.is_due());
    reader.note_length(10);
    EXPECT_GT(reader.due(), after(std::chrono::hours(1)));
}

TEST_F(JournalReaders, OneThatCannotBeReadNowKeepsNobodySpinning)
{
    JournalReader reader(context_, RunId::make());
    reader.note_length(10);

    reader.put_off();
    reader.note_length(20);

    EXPECT_FALSE(reader.is_due());
    EXPECT_GT(reader.due(), after(std::chrono::seconds(10)));
    EXPECT_LT(reader.due(), after(std::chrono::hours(1)));
}

}  // namespace
}  // namespace ponk::engine
