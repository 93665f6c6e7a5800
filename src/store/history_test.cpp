// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"
#include "store/history.hpp"
#include "store/history_test_support.hpp"
#include "store/run_json.hpp"

#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ponk::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

model::Run full_run()
{
    model::Run run;
    run.id = RunId::make();
    run.project = "p1";
    run.project_path = "/home/ann/caf\xe9 \n'x'";
    run.name = "a name";
    run.exit_code = 139;
    run.error = Error(ErrorKind::timeout, "took 'too' long", "Wait.");
    run.script_name = "tr\xff"
                      "ain.py";
    run.arguments = {"", "--x", "a\nb", "\xff\xfe", "\"quoted\""};
    run.target = "local";
    run.target_type = "local";
    run.run_configuration = "mine";
    run.framework = "Python";
    run.user = "ann";
    run.host = "box";
    run.created = 1;
    run.started = 2;
    run.ended = 3;
    run.snapshot = "s";
    run.outputs = "o";
    run.rerun_of = "r";
    run.tracked = false;
    run.hidden = true;
    run.cancel_requested = true;
    run.job = "job 7";
    run.timings = {{"run", 5}, {"start", 1}};
    run.tags = {{"a", "1"}, {"b", ""}};
    run.git = JsonObject{{"commit", "abc"}, {"dirty", true}};
    run.configuration = JsonObject{{"k", JsonArray{1, 2.5, nullptr}}};
    run.evidence = JsonObject{{"signal", 11}};
    run.gpu = JsonObject{{"phase", "leased"}, {"devices", JsonArray{"x"}}};
    return run;
}

TEST_F(HistoryTest, EveryFieldComesBack)
{
    const auto run = full_run();

    const auto created = history_->create_run(run).value();
    reopen();
    const auto stored = history_->get_run(run.id).value();

    EXPECT_TRUE(created.is_new);
    auto expected = run;
    expected.number = 1;
    EXPECT_EQ(to_json(run_json(stored)), to_json(run_json(expected)));
    EXPECT_EQ(stored.arguments, run.arguments);
    EXPECT_EQ(stored.script_name, run.script_name);
    EXPECT_EQ(stored.job, run.job);
    EXPECT_EQ(stored.cancel_requested, true);
    EXPECT_EQ(stored.error->hint(), "Wait.");
}

TEST_F(HistoryTest, CreatingAgainAnswersTheRunThatIsThere)
{
    auto run = make_run();
    const auto first = history_->create_run(run).value();
    run.script_name = "other.py";

    const auto again = history_->create_run(run).value();

    EXPECT_FALSE(again.is_new);
    EXPECT_EQ(again.run.number, first.run.number);
    EXPECT_EQ(again.run.script_name, "train.py");
}

TEST_F(HistoryTest, NumbersCountUpWithinAProjectAndAreNotUsedTwice)
{
    EXPECT_EQ(add("a").number, 1);
    const auto second = add("a");
    EXPECT_EQ(second.number, 2);
    EXPECT_EQ(add("b").number, 1);
    finish(second.id);
    ASSERT_TRUE(history_->delete_run(second.id));

    EXPECT_EQ(add("a").number, 3);
}

TEST_F(HistoryTest, AStateIsLeftOnceAndOnlyAsTheMachineAllows)
{
    const auto id = add().id;

    EXPECT_EQ(history_->update_state(id, RunState::running, RunState::finalizing).error().message(),
              fmt::format("run '{}' is NotStarted, not Running", id.text()));
    EXPECT_EQ(history_->update_state(id, RunState::not_started, RunState::completed).error().kind(),
              ErrorKind::conflict);
    finish(id);
    EXPECT_FALSE(history_->update_state(id, RunState::finalizing, RunState::failed));
    EXPECT_FALSE(history_->update_state(id, RunState::completed, RunState::failed));
    EXPECT_EQ(history_->get_run(id).value().state, RunState::completed);

    std::vector<std::string> states;
    const auto events = history_->events(id).value();
    for (const auto& event : events)
        states.push_back(event.kind + " " + event.text);
    EXPECT_THAT(
        states,
        ElementsAre("state NotStarted", "state Starting", "state Finalizing", "state Completed"));
}

TEST_F(HistoryTest, SeveralStatesAreLeftAtOnceOrNone)
{
    const auto id = add().id;
    ASSERT_TRUE(history_->update_state(id, RunState::not_started, RunState::starting));

    using Path = std::vector<RunState>;
    EXPECT_FALSE(history_->update_state(
        id, RunState::starting, Path{RunState::finalizing, RunState::running}));
    EXPECT_EQ(history_->find_state(id).value(), RunState::starting);
    EXPECT_THAT(history_->events(id).value(), SizeIs(2));
    const auto ended = history_->update_state(
        id, RunState::starting, Path{RunState::finalizing, RunState::completed}, {.exit_code = 0});

    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->state, RunState::completed);
    EXPECT_EQ(history_->find_state(id).value(), RunState::completed);
    const auto events = history_->events(id).value();
    ASSERT_THAT(events, SizeIs(4));
    EXPECT_EQ(events[2].text, "Finalizing");
    EXPECT_FALSE(history_->find_state(RunId::make()).value());
}

TEST_F(HistoryTest, AStateAndWhatBelongsToItChangeTogether)
{
    const auto id = add().id;
    ASSERT_TRUE(history_->update_run(id, {.job = "pid 7", .timings = {{"prepare", 3}}}));

    const auto run = history_
                         ->update_state(id,
                                        RunState::not_started,
                                        RunState::failed,
                                        {.exit_code = 3, .ended = 99, .timings = {{"run", 4}}})
                         .value();

    EXPECT_EQ(run.exit_code, 3);
    EXPECT_EQ(run.ended, 99);
    EXPECT_EQ(run.job, "pid 7");
    EXPECT_THAT(run.timings, ElementsAre(testing::Pair("prepare", 3), testing::Pair("run", 4)));
    EXPECT_EQ(to_json(run_json(history_->get_run(id).value())), to_json(run_json(run)));
}

TEST_F(HistoryTest, OfManyWhoEndARunOneSucceeds)
{
    const auto id = add().id;
    std::atomic<int> winners = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([&, i] {
                const auto end = i % 2 == 0 ? RunState::failed : RunState::canceled;
                if (history_->update_state(id, RunState::not_started, end)) ++winners;
                (void)history_->list_runs({});
            });
        }
    }

    EXPECT_EQ(winners, 1);
    EXPECT_THAT(history_->events(id).value(), SizeIs(2));
}

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

    const auto json = run_json(history_->get_run(used).value());
    EXPECT_EQ(json.text("gpu_verdict"), "confirmed");
    EXPECT_TRUE(json["gpu_evidence"] == Json(JsonObject{{"reason", "it worked"}}));
    const auto none = run_json(history_->get_run(plain).value());
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

TEST_F(HistoryTest, ProjectsAreKnownByTheirRuns)
{
    const auto first = add("p1");
    const auto last = add("p1");
    ASSERT_TRUE(history_->put_project({"p2", "Second", "/srv/two"}));

    const auto all = history_->projects().value();

    ASSERT_THAT(all, SizeIs(2));
    EXPECT_EQ(all[0].project.name, "Second");
    EXPECT_EQ(all[1].project.name, "p1");
    EXPECT_EQ(all[1].runs, 2);
    EXPECT_EQ(all[1].last_run, last.id);
    EXPECT_EQ(history_->find_project_at("/srv/two").value()->project.id, "p2");
    EXPECT_EQ(history_->find_project_at("/nowhere").value(), std::nullopt);
    EXPECT_THAT(history_->delete_project("p1").error().message(), HasSubstr("is NotStarted"));
    finish(first.id);
    finish(last.id);
    ASSERT_TRUE(history_->delete_project("p1"));
    EXPECT_EQ(history_->find_project("p1").value(), std::nullopt);
    EXPECT_THAT(history_->list_runs({}).value().runs, IsEmpty());
    EXPECT_EQ(history_->delete_project("p1").error().kind(), ErrorKind::not_found);
}

TEST_F(HistoryTest, AMovedProjectIsFoundAtItsNewPlace)
{
    add("p1");
    auto run = make_run("p1");
    run.project_path = "/new/place";
    ASSERT_TRUE(history_->create_run(run));

    EXPECT_EQ(history_->find_project_at("/new/place").value()->runs, 2);
}

TEST_F(HistoryTest, AssetsHaveVersions)
{
    const auto run = add().id;
    const Asset asset{.project = "p1", .name = "model", .run = run, .path = "outputs/m", .size = 5};

    EXPECT_EQ(history_->add_asset(asset).value().version, 1);
    EXPECT_EQ(history_->add_asset(asset).value().version, 2);

    ASSERT_THAT(history_->assets("p1").value(), SizeIs(1));
    EXPECT_EQ(history_->assets("p1").value()[0].version, 2);
    EXPECT_EQ(history_->assets("p1").value()[0].run, run);
    const auto versions = history_->asset_versions("p1", "model").value();
    ASSERT_THAT(versions, SizeIs(2));
    EXPECT_EQ(versions[0].version, 2);
    // The run outlives its name.
    finish(run);
    EXPECT_EQ(history_->delete_run(run).error().kind(), ErrorKind::conflict);
    EXPECT_TRUE(history_->delete_asset("p1", "model"));
    EXPECT_TRUE(history_->delete_run(run));
    EXPECT_EQ(history_->delete_asset("p1", "model").error().kind(), ErrorKind::not_found);
    EXPECT_FALSE(history_->add_asset({.project = "p9", .name = "x"}));
}

TEST_F(HistoryTest, ImportedRunsKeepTheirNumbersWhereTheyCan)
{
    auto known = add();  // number 1
    auto lost = make_run();
    lost.number = 1;  // taken
    lost.state = RunState::completed;
    auto older = make_run();
    older.number = 7;
    older.state = RunState::lost;
    if (older.id < lost.id) std::swap(older.id, lost.id);  // born in the same millisecond

    const auto added = history_->import_runs({known, lost, older}).value();

    EXPECT_EQ(added, 2U);
    EXPECT_EQ(history_->get_run(known.id).value().state, RunState::not_started);
    EXPECT_EQ(history_->get_run(lost.id).value().number, 2);
    EXPECT_EQ(history_->get_run(lost.id).value().state, RunState::completed);
    EXPECT_EQ(history_->get_run(older.id).value().number, 7);
    EXPECT_EQ(add().number, 8);
}

TEST_F(HistoryTest, ABackupRestoresWhatADamagedFileLost)
{
    const auto before = add();
    ASSERT_TRUE(history_->make_backup());
    const auto after = add();
    history_.reset();
    ASSERT_TRUE(os::replace_file(folder_ / "history.db", std::string(50'000, 'z')));

    history_ = History::open(folder_).value();

    EXPECT_EQ(history_->opening().outcome, Opening::Outcome::restored);
    EXPECT_TRUE(history_->opening().must_import());
    EXPECT_TRUE(history_->get_run(before.id));
    EXPECT_FALSE(history_->get_run(after.id));
    EXPECT_EQ(history_->import_runs({before, after}).value(), 1U);
    EXPECT_EQ(history_->get_run(after.id).value().number, 2);
}

TEST_F(HistoryTest, ChecksAndCopiesItself)
{
    add();
    EXPECT_EQ(history_->last_integrity_check().value(), 0);

    EXPECT_TRUE(history_->check_integrity());
    EXPECT_GT(history_->last_integrity_check().value(), 0);
    EXPECT_GT(history_->sizes().database + history_->sizes().log, 0U);
    ASSERT_TRUE(history_->backup_to(folder_ / "copy.db"));
    EXPECT_EQ(history_->backup_to(folder_ / "copy.db").error().kind(), ErrorKind::conflict);
    EXPECT_FALSE(history_->failure());
}

TEST_F(HistoryTest, ASecondProcessCannotOpenIt)
{
    const pid_t child = ::fork();
    if (child == 0) {
        const auto second = History::open(folder_);
        ::_exit(!second && second.error().kind() == ErrorKind::conflict ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);

    EXPECT_EQ(status, 0);
}

TEST_F(HistoryTest, RefusesWhatCouldNotBeReadBack)
{
    auto run = make_run();
    run.arguments.assign(9, std::string(1 << 20, 'x'));

    const auto refused = history_->create_run(run);

    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("can be stored"));
    EXPECT_EQ(history_->find_run(run.id).value(), std::nullopt);
    EXPECT_FALSE(history_->create_run({}));
}

TEST_F(HistoryTest, ARunThatHoldsAnAssetStays)
{
    auto run = make_run();
    run.state = model::RunState::completed;
    ASSERT_TRUE(history_->create_run(run));
    Asset asset;
    asset.project = run.project;
    asset.name = "model";
    asset.run = run.id;
    asset.path = "outputs/model";
    ASSERT_TRUE(history_->add_asset(asset));

    const auto refused = history_->delete_run(run.id);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::conflict);
    EXPECT_THAT(refused.error().message(), HasSubstr("asset 'model'"));
}

}  // namespace
}  // namespace ponk::store
