// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"
#include "store/history/history.hpp"
#include "store/history/history_test_support.hpp"

#include <thread>

namespace ponk::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
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
    EXPECT_EQ(to_json(shown(stored)), to_json(shown(expected)));
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
    EXPECT_EQ(to_json(shown(history_->get_run(id).value())), to_json(shown(run)));
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

}  // namespace
}  // namespace ponk::store
