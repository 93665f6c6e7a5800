// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"
#include "store/history/history.hpp"
#include "store/history/history_test_support.hpp"

namespace ponk::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(HistoryTest, NumberThatIsPartOfAnotherIdIsAskedBack)
{
    auto first = make_run();
    first.id = RunId::parse("0199aaaabbbbccccddddeeeeffff1000").value();
    auto second = make_run();
    second.id = RunId::parse("0199aaaabbbbccccddddeeeeffff2000").value();
    second.number = 1000;
    ASSERT_EQ(history_->import_runs({first, second}).value(), 2U);

    EXPECT_EQ(history_->resolve_run("1000").value(), first.id);
    EXPECT_EQ(history_->resolve_run("1000", "p1").error().kind(), ErrorKind::conflict);
    EXPECT_EQ(history_->resolve_run("f1000", "p1").value(), first.id);
    EXPECT_EQ(history_->resolve_run("2000", "p1").value(), second.id);
}

TEST_F(HistoryTest, RunsAreFoundByBeginningEndAndLast)
{
    auto run = make_run();
    run.id = RunId::parse("0199aaaabbbbccccddddeeeeffff0001").value();
    ASSERT_TRUE(history_->create_run(run));
    auto other = make_run("p2");
    other.id = RunId::parse("0199aaaa000000000000000000001234").value();
    ASSERT_TRUE(history_->create_run(other));

    EXPECT_EQ(history_->resolve_run("0199aaaab").value(), run.id);
    EXPECT_EQ(history_->resolve_run("0199AAAAB").value(), run.id);
    EXPECT_EQ(history_->resolve_run("0001").value(), run.id);
    EXPECT_EQ(history_->resolve_run(run.id.text()).value(), run.id);
    EXPECT_EQ(history_->resolve_run("last").value(), other.id);
    EXPECT_EQ(history_->resolve_run("last", "p1").value(), run.id);
    EXPECT_EQ(history_->resolve_run("last", "p9").error().kind(), ErrorKind::not_found);
    EXPECT_EQ(history_->resolve_run("001").error().kind(), ErrorKind::invalid_argument);
    EXPECT_EQ(history_->resolve_run("1", "p1").value(), run.id);
    EXPECT_EQ(history_->resolve_run("1", "p2").value(), other.id);
    EXPECT_EQ(history_->resolve_run("2", "p1").error().kind(), ErrorKind::not_found);
    EXPECT_EQ(history_->resolve_run("01", "p1").error().kind(), ErrorKind::not_found);
    EXPECT_EQ(history_->resolve_run("1").error().kind(), ErrorKind::invalid_argument);
    EXPECT_EQ(history_->resolve_run("feed").error().message(), "there is no run 'feed'");
    EXPECT_EQ(history_->resolve_run("train.py").error().kind(), ErrorKind::not_found);
    const auto several = history_->resolve_run("0199aaaa").error();
    EXPECT_EQ(several.kind(), ErrorKind::conflict);
    EXPECT_THAT(several.message(), HasSubstr(run.id.text() + " (train.py, NotStarted)"));
    EXPECT_THAT(several.message(), HasSubstr(other.id.text()));
}

TEST_F(HistoryTest, RunsAreFoundByTheirNameWhichHidesNoId)
{
    const auto add_named = [this](const std::string& name, const std::string& project = "p1") {
        auto run = make_run(project);
        run.name = name;
        return history_->create_run(run).value().run;
    };
    const auto base = add_named("base line");
    const auto hex = add_named("feed");
    const auto last = add_named("last");
    const auto number = add_named("1");
    const auto twice = add_named("twice");
    const auto other = add_named("twice");
    const auto elsewhere = add_named("base line", "p2");

    EXPECT_EQ(history_->resolve_run("base line", "p1").value(), base.id);
    EXPECT_EQ(history_->resolve_run("base line", "p2").value(), elsewhere.id);
    EXPECT_EQ(history_->resolve_run("base line").error().kind(), ErrorKind::conflict);
    EXPECT_EQ(history_->resolve_run("feed", "p1").value(), hex.id);
    EXPECT_NE(history_->resolve_run("last", "p1").value(), last.id);
    EXPECT_EQ(history_->resolve_run("1", "p1").value(), base.id) << "the first of the project";
    EXPECT_NE(number.id, base.id);
    const auto several = history_->resolve_run("twice", "p1").error();
    EXPECT_EQ(several.kind(), ErrorKind::conflict);
    EXPECT_THAT(several.message(), HasSubstr(twice.id.text()));
    EXPECT_THAT(several.message(), HasSubstr(other.id.text()));
    EXPECT_EQ(history_->resolve_run("Base Line", "p1").error().kind(), ErrorKind::not_found);
}

TEST_F(HistoryTest, TheLastRunIsTheOneThatWasSubmittedAndNoneThatItMade)
{
    auto run = make_run();
    ASSERT_TRUE(history_->create_run(run));
    auto made = make_run();
    made.parent = run.id.text();
    ASSERT_TRUE(history_->create_run(made));

    EXPECT_EQ(history_->resolve_run("last", "p1").value(), run.id);
    EXPECT_EQ(history_->resolve_run("last").value(), run.id);
}

TEST_F(HistoryTest, PagesHoldEveryRunOnceNewestFirst)
{
    std::vector<std::string> made;
    for (int i = 0; i < 25; ++i)
        made.push_back(add(i % 2 == 0 ? "even" : "odd", i < 5 ? "a.py" : "b.py").id.text());
    std::reverse(made.begin(), made.end());

    std::vector<std::string> seen;
    RunFilter filter{.limit = 7};
    for (;;) {
        const auto page = history_->list_runs(filter).value();
        for (const auto& run : page.runs)
            seen.push_back(run.id.text());
        if (!page.next) break;
        filter.before = page.next;
    }

    EXPECT_EQ(seen, made);
    EXPECT_THAT(history_->list_runs({.project = "odd"}).value().runs, SizeIs(12));
    EXPECT_THAT(history_->list_runs({.project = "odd", .script = "a.py"}).value().runs, SizeIs(2));
    EXPECT_THAT(history_->list_runs({.state = RunState::failed}).value().runs, IsEmpty());
    EXPECT_EQ(history_->list_runs({.before = RunId::make()}).error().kind(), ErrorKind::not_found);
}

TEST_F(HistoryTest, RunsAreFilteredByTheVerdictOnTheirGpus)
{
    const auto plain = add().id;
    const auto waiting = add().id;
    const auto used = add("p2").id;
    ASSERT_TRUE(history_->update_run(waiting, {.gpu = JsonObject{{"phase", "queued"}}}));
    ASSERT_TRUE(history_->update_run(
        used, {.gpu = JsonObject{{"verdict", "confirmed"}, {"reason", "it worked"}}}));
    const auto only = [&](const RunFilter& filter) {
        const auto runs = history_->list_runs(filter).value().runs;
        return runs.size() == 1 ? runs[0].id : RunId();
    };

    EXPECT_EQ(only({.gpu_verdict = "confirmed"}), used);
    EXPECT_EQ(only({.project = "p2", .gpu_verdict = "confirmed"}), used);
    EXPECT_THAT(history_->list_runs({.project = "p1", .gpu_verdict = "confirmed"}).value().runs,
                IsEmpty());
    EXPECT_EQ(only({.gpu_verdict = "unknown"}), waiting);
    EXPECT_EQ(only({.gpu_verdict = "not-requested"}), plain);

    const auto json = shown(history_->get_run(used).value());
    EXPECT_EQ(json.text("gpu_verdict"), "confirmed");
    EXPECT_TRUE(json["gpu_evidence"] == Json(JsonObject{{"reason", "it worked"}}));
    const auto none = shown(history_->get_run(plain).value());
    EXPECT_EQ(none.text("gpu_verdict"), "not-requested");
    EXPECT_TRUE(none["gpu_evidence"].is_null());
}

TEST_F(HistoryTest, HiddenAndTaggedRunsAreFiltered)
{
    const auto hidden = add().id;
    const auto tagged = add().id;
    ASSERT_TRUE(history_->update_run(hidden, {.hidden = true}));
    ASSERT_TRUE(history_->set_tag(tagged, "color", "red"));
    ASSERT_TRUE(history_->set_tag(tagged, "size", "big"));

    EXPECT_THAT(history_->list_runs({}).value().runs, SizeIs(1));
    EXPECT_THAT(history_->list_runs({.hidden = RunFilter::Hidden::include}).value().runs,
                SizeIs(2));
    const auto red = history_->list_runs({.tag = std::pair("color", "red")}).value();
    ASSERT_THAT(red.runs, SizeIs(1));
    EXPECT_THAT(red.runs[0].tags,
                ElementsAre(testing::Pair("color", "red"), testing::Pair("size", "big")));
    ASSERT_TRUE(history_->set_tag(tagged, "color", std::nullopt));
    EXPECT_THAT(history_->list_runs({.tag = std::pair("color", "red")}).value().runs, IsEmpty());
    EXPECT_EQ(history_->resolve_run("last").value(), tagged);
}

TEST_F(HistoryTest, ActiveRunsAreThoseWithoutAnEnd)
{
    const auto done = add().id;
    const auto waiting = add().id;
    finish(done, RunState::failed);

    const auto active = history_->active_runs().value();

    ASSERT_THAT(active, SizeIs(1));
    EXPECT_EQ(active[0].id, waiting);
    EXPECT_EQ(history_->delete_run(waiting).error().kind(), ErrorKind::conflict);
    EXPECT_TRUE(history_->delete_run(done));
    EXPECT_EQ(history_->get_run(done).error().kind(), ErrorKind::not_found);
    EXPECT_EQ(history_->find_run(done).value(), std::nullopt);
}

}  // namespace
}  // namespace ponk::store
