// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/work_budget.hpp"
#include "store/copy/copies.hpp"
#include "store/copy/export_lines.hpp"
#include "store/history/history_test_support.hpp"
#include "store/tracking/tracking.hpp"

namespace ponk::store {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class CopiesTest : public HistoryTest {
protected:
    std::vector<Json> lines(const ExportScope& scope = {})
    {
        ExportLines all(*history_, scope);
        std::string text;
        while (all.next(text).value()) {
        }
        EXPECT_TRUE(text.empty() || text.ends_with('\n'));
        std::vector<Json> parsed;
        for (const auto& line : split(text, '\n')) {
            if (!line.empty()) parsed.push_back(parse_json(line).value());
        }
        return parsed;
    }
    static RunCopy run_copy(const std::string& id = "0123456789abcdef0123456789abcdef")
    {
        RunCopy copy;
        copy.run.id = RunId::parse(id).value();
        copy.run.name = "one";
        copy.run.state = RunState::completed;
        copy.points.add({"loss", 0.5, std::nullopt, 1, 2});
        return copy;
    }

    Copies copies_{*history_, Copies::Mode::store};
};

TEST_F(CopiesTest, AnExportHasALineForEveryRunOldestFirst)
{
    const auto first = add("p1").id;
    const auto second = add("p2").id;
    ASSERT_TRUE(history_->record_metrics(
        first, {"m", 0, 1, {{"loss", 0.5, std::nullopt, 7, 9}, {"w", 0, "NaN", 1, 1}}}));

    const auto all = lines();

    ASSERT_THAT(all, SizeIs(5));  // with the experiments, of which one is always there
    EXPECT_EQ(all[0]["experiment"].text("name"), "Default");
    EXPECT_EQ(all[3]["run"].text("run_id"), first.text());
    EXPECT_EQ(all[3]["experiment"].text("name"), "p1");
    EXPECT_EQ(all[4]["run"].text("run_id"), second.text());
    EXPECT_EQ(to_json(all[3]["metrics"]),
              R"({"loss":{"latest":0.5,"count":1,"points":[[7,9,0.5]]},)"
              R"("w":{"latest":"NaN","count":1,"points":[[1,1,"NaN","text"]]}})");
    EXPECT_EQ(all[3]["events"].as_array().at(0).text("text"), "NotStarted");
    EXPECT_THAT(lines({.run = second}), SizeIs(1));
    EXPECT_THAT(lines({.project = "p2"}), SizeIs(2));
}

TEST_F(CopiesTest, AnExportChargesWhatItGivesAndWaitsForRoom)
{
    class Meter final : public AnswerMeter {
    public:
        bool hold(std::size_t bytes) override
        {
            const auto more = bytes - std::exchange(last_, bytes);
            if (room) charged += more;
            return room;
        }
        bool room = false;
        std::size_t charged = 0;

    private:
        std::size_t last_ = 0;
    } meter;
    auto copy = run_copy();
    for (int i = 0; i < 20; ++i)
        copy.run.tags.emplace_back(fmt::format("tag{:02}", i), std::string(5000, 'x'));
    copy.events = {{1, 1, "state", std::string(5000, 'y')}};
    ASSERT_TRUE(copies_.put(0, copy));
    ASSERT_TRUE(Models(*history_).create({.experiment = 0, .name = "m"}));
    const auto before = lines();

    WorkBudget budget;
    budget.limit_answer(static_cast<std::size_t>(-1), &meter);
    const WorkScope scope(&budget);
    ExportLines all(*history_, {});
    std::string text;
    int refusals = 0;
    for (bool more = true; more;) {  // each piece is asked for without room first
        const auto size = text.size();
        const auto next = all.next(text);
        const bool room = std::exchange(meter.room, !next);
        if (next) {
            more = *next;
            continue;
        }
        ASSERT_EQ(next.error().kind(), ErrorKind::unavailable);
        ASSERT_FALSE(room);
        ASSERT_EQ(text.size(), size);
        ++refusals;
    }

    EXPECT_GT(refusals, 4);
    EXPECT_GE(meter.charged, text.size());
    std::string wanted;
    for (const auto& line : before)
        wanted += to_json(line) + "\n";
    EXPECT_EQ(text, wanted);
}

TEST_F(CopiesTest, PointsThatWereJustLoggedAreExported)
{
    const auto id = add().id;
    ASSERT_TRUE(history_->log_points(id, std::vector<model::MetricPoint>{{"a", 1, {}, 0, 1}}));

    EXPECT_EQ(lines({.run = id}).at(0)["metrics"]["a"].integer("count"), 1);
}

TEST_F(CopiesTest, ExperimentsKeepTheirIdsWhenTheyAreFreeAndSmall)
{
    EXPECT_EQ(copies_.put(ExperimentCopy{.id = 12, .name = "a"}).value().id, 12);
    EXPECT_EQ(copies_.put(ExperimentCopy{.id = 12, .name = "b"}).value().id, 13);
    EXPECT_EQ(copies_.put(ExperimentCopy{.id = 272607815952549059, .name = "c"}).value().id, 14);
    EXPECT_EQ(copies_.put(ExperimentCopy{.id = -4, .name = "d"}).value().id, 15);
    EXPECT_EQ(copies_.put(ExperimentCopy{.id = 99, .name = "a"}).value().id, 12);
    EXPECT_EQ(copies_.put(ExperimentCopy{.id = 7, .name = "Default"}).value().id, 0);
}

TEST_F(CopiesTest, TagsOfAnExperimentThatIsHereAreAddedAndNeverReplaced)
{
    const auto id = copies_.put(ExperimentCopy{.name = "a", .tags = {{"k", "1"}}}).value().id;

    const auto again =
        copies_.put(ExperimentCopy{.name = "a", .tags = {{"k", "2"}, {"new", "3"}}}).value();

    EXPECT_EQ(again.outcome, Copies::Outcome::same);
    EXPECT_THAT(again.notes, testing::ElementsAre(HasSubstr("the tag 'k'")));
    const auto tags = Tracking(*history_).get_experiment(id).value().tags;
    EXPECT_THAT(tags, testing::ElementsAre(testing::Pair("k", "1"), testing::Pair("new", "3")));
}

TEST_F(CopiesTest, ADeletedExperimentTakesNothingThatIsNot)
{
    Tracking tracking(*history_);
    ASSERT_TRUE(tracking.delete_experiment(tracking.create_experiment("a", "", {}).value()));

    EXPECT_EQ(copies_.put(ExperimentCopy{.name = "a"}).error().kind(), ErrorKind::conflict);
    EXPECT_TRUE(copies_.put(ExperimentCopy{.name = "a", .deleted = 5}));
}

TEST_F(CopiesTest, EveryDifferenceOfARunIsSaid)
{
    ASSERT_EQ(copies_.put(0, run_copy()).value(), Copies::Outcome::added);
    EXPECT_EQ(copies_.put(0, run_copy()).value(), Copies::Outcome::same);
    const auto refused = [&](auto change) {
        auto copy = run_copy();
        change(copy);
        const auto outcome = copies_.put(0, copy);
        return outcome ? std::string("not refused") : outcome.error().message();
    };
    using C = RunCopy;
    EXPECT_THAT(refused([](C& c) { c.run.name = "two"; }), HasSubstr("'name'"));
    EXPECT_THAT(refused([](C& c) { c.run.tags = {{"k", "v"}}; }), HasSubstr("'tags'"));
    EXPECT_THAT(refused([](C& c) { c.deleted = 4; }), HasSubstr("'times'"));
    EXPECT_THAT(refused([](C& c) { c.inputs.models = {"m"}; }), HasSubstr("inputs"));
    EXPECT_THAT(refused([](C& c) { c.events = {{1, 1, "state", "x"}}; }), HasSubstr("events"));
    EXPECT_THAT(refused([](C& c) {
                    c.points.add({"loss", 1, {}, 2, 2});
                }),
                HasSubstr("points of 'loss'"));
    EXPECT_THAT(refused([](C& c) {
                    c.points.add({"more", 1, {}, 2, 2});
                }),
                HasSubstr("points of 'more'"));
    // The same point twice is one.
    auto twice = run_copy();
    twice.points.add({"loss", 0.5, std::nullopt, 1, 2});
    EXPECT_EQ(copies_.put(0, twice).value(), Copies::Outcome::same);
}

TEST_F(CopiesTest, NothingOfARunIsStoredWhenAPartOfItCannotBe)
{
    auto copy = run_copy();
    copy.events = {{1, 1, "state", "a"}, {1, 2, "state", "b"}};

    EXPECT_FALSE(copies_.put(0, copy));

    EXPECT_FALSE(history_->find_run(copy.run.id).value());
}

}  // namespace
}  // namespace ponk::store
