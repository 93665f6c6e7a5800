// SPDX-License-Identifier: Apache-2.0
#include "engine/journal_reader.hpp"
#include "os/test_folder.hpp"
#include "store/tracking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace ponk::engine {
namespace {

class JournalReaders : public testing::Test {
protected:
    os::TestFolder place_;
    std::unique_ptr<store::History> history_ =
        std::move(*store::History::open(place_.path() / "history"));
    snapshot::ObjectStore objects_ =
        std::move(*snapshot::ObjectStore::open(place_.path() / "store"));
    secrets::Secrets secrets_{place_.path(), secrets::Secrets::Keyring::never};
    std::map<std::string, std::unique_ptr<target::Executor>> executors_;
    Notifier notifier_;
    Context context_{place_.path(), *history_, objects_, secrets_, executors_, notifier_};

    // A run that history knows, with a folder for journals.
    RunId begin_run()
    {
        EXPECT_TRUE(history_->put_project({"p", "p", place_.path()}));
        model::Run run;
        run.id = RunId::make();
        run.project = "p";
        EXPECT_TRUE(history_->create_run(run));
        EXPECT_TRUE(os::make_directories(context_.run_directory(run.id) / "journal"));
        return run.id;
    }
    void put(const RunId& run, const std::string& name, const std::string& text)
    {
        std::ofstream(context_.run_directory(run) / "journal" / name, std::ios::app) << text;
    }
    static std::string point(int step)
    {
        return model::journal_record(
            JsonObject{{"metric", "loss"}, {"value", 0.5}, {"step", step}, {"time", 1000}});
    }
    [[nodiscard]] std::int64_t last_step(const RunId& run) const
    {
        const auto latest = history_->latest_metrics(run, {});
        return latest && latest->size() == 1 ? latest->front().point.step : -1;
    }
    static int read_all(JournalReader& reader)
    {
        int calls = 1;
        while (reader.read_some({}) == JournalReader::Progress::more)
            ++calls;
        return calls;
    }
};

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
    for (std::size_t i = 0; i < target::Journals::most; ++i)
        put(run, std::to_string(i), "");
    JournalReader full(context_, run);
    read_all(full);
    EXPECT_TRUE(full.findings().empty()) << full.findings().front();
    put(run, "z", "");
    JournalReader more(context_, run);
    read_all(more);
    ASSERT_EQ(more.findings().size(), 1U);
    EXPECT_NE(more.findings().front().find("more metric journals"), std::string::npos);
}

TEST_F(JournalReaders, AHoleIsNoDataAndAJournalHasALimit)
{
    const auto run = begin_run();
    const auto file = context_.run_directory(run) / "journal/a";
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

TEST_F(JournalReaders, RunsThatTheScriptMadeComeHomeOnce)
{
    const auto run = begin_run();
    const auto inner = RunId::make().text();
    const auto text =
        model::journal_record(
            JsonObject{{"of", inner}, {"made", "inner"}, {"user", "ann"}, {"time", 50}}) +
        model::journal_record(JsonObject{{"of", inner}, {"param", "lr"}, {"value", "0.1"}}) +
        model::journal_record(
            JsonObject{{"of", inner}, {"metric", "m"}, {"value", 3}, {"step", 1}, {"time", 60}}) +
        model::journal_record(JsonObject{{"of", inner}, {"status", "FINISHED"}, {"ended", 70}});
    // Two journals that say the same: as if the daemon had been killed before it noted how far.
    put(run, "relay-1", text);
    put(run, "relay-2", text);
    JournalReader reader(context_, run);
    read_all(reader);

    const store::Tracking tracking(*history_);
    const auto found = tracking.get_run(inner);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->name, "inner");
    EXPECT_EQ(found->state, model::RunState::completed);
    EXPECT_EQ(found->ended, 70);
    EXPECT_EQ(found->experiment, tracking.get_run(run.text())->experiment);
    ASSERT_EQ(found->metrics.size(), 1U);
    EXPECT_EQ(found->metrics[0].value, 3);
    EXPECT_EQ(last_step(run), -1);  // none of them is the run's own
}

TEST_F(JournalReaders, AJournalCannotSpeakOfOtherRuns)
{
    const auto run = begin_run();
    const auto other = begin_run();
    put(run,
        "relay-1",
        model::journal_record(JsonObject{{"of", other.text()}, {"made", "mine"}}) +
            model::journal_record(JsonObject{{"of", other.text()}, {"tag", "a"}, {"value", "b"}}) +
            model::journal_record(
                JsonObject{{"of", other.text()}, {"metric", "m"}, {"value", 1}, {"time", 1}}) +
            model::journal_record(JsonObject{{"of", "../x"}, {"made", "y"}}) + point(7));
    JournalReader reader(context_, run);
    read_all(reader);

    const auto untouched = store::Tracking(*history_).get_run(other.text());
    ASSERT_TRUE(untouched);
    EXPECT_TRUE(untouched->metrics.empty());
    EXPECT_EQ(std::ranges::count(untouched->tags, std::pair<std::string, std::string>("a", "b")),
              0);
    EXPECT_EQ(last_step(run), 7);
}

TEST_F(JournalReaders, ARunIsRenamedAndItsTagsGo)
{
    const auto run = begin_run();
    put(run,
        "relay-1",
        model::journal_record(JsonObject{{"tag", "a"}, {"value", "1"}}) +
            model::journal_record(JsonObject{{"tag", "mlflow.runName"}, {"value", "night"}}));
    JournalReader reader(context_, run);
    read_all(reader);
    put(run, "relay-1", model::journal_record(JsonObject{{"untag", "a"}}));
    reader.begin_again();
    read_all(reader);

    const auto found = store::Tracking(*history_).get_run(run.text());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name, "night");
    EXPECT_EQ(std::ranges::count_if(found->tags, [](const auto& tag) { return tag.first == "a"; }),
              0);
}

}  // namespace
}  // namespace ponk::engine
