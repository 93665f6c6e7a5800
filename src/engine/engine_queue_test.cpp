// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_test_support.hpp"
#include "os/file.hpp"

namespace ponk::engine {
namespace {

class WaitingRuns : public Engines {
protected:
    WaitingRuns()
    {
        engine_.reset();
        start({.runs_per_location = 1, .snapshots = 2});
    }

    model::Run submit(const std::string& script)
    {
        const auto run = engine_->submit(request(script), submitter_);
        EXPECT_TRUE(run) << run.error().message();
        return run ? *run : model::Run();
    }
    void wait_for_snapshot(const RunId& id)
    {
        for (int i = 0; i < 2000 && history_->get_run(id)->snapshot.empty(); ++i)
            std::this_thread::sleep_for(5ms);
    }
};

TEST_F(WaitingRuns, OneAfterTheOtherInTheOrderOfTheirSubmission)
{
    const auto first = submit("wait.py");
    const auto second = submit("wait.py");
    const auto third = submit("ok.py");
    ASSERT_EQ(wait_until(first.id, RunState::running).state, RunState::running);
    EXPECT_EQ(second.state, RunState::not_started);
    EXPECT_EQ(third.state, RunState::not_started);
    EXPECT_EQ(engine_->waiting_runs(), 2U);
    EXPECT_EQ(engine_->active_runs(), 3U);
    EXPECT_EQ(starts_, 1);

    release_ = true;

    EXPECT_EQ(wait_for_end(third.id).state, RunState::completed);
    EXPECT_EQ(history_->get_run(first.id)->state, RunState::completed);
    const auto ended = *history_->get_run(second.id);
    EXPECT_EQ(ended.state, RunState::completed);
    EXPECT_LE(ended.ended, history_->get_run(third.id)->ended);
    EXPECT_EQ(starts_, 3);
}

TEST_F(WaitingRuns, WhatWasSubmittedIsWhatRunsLater)
{
    const auto first = submit("wait.py");
    const auto second = submit("ok.py");
    wait_for_snapshot(second.id);
    const auto stored = history_->get_run(second.id)->snapshot;
    ASSERT_EQ(stored.size(), 64U);
    EXPECT_FALSE(std::filesystem::exists(engine_->context().run_directory(second.id).work()));

    ASSERT_TRUE(os::replace_file(root_ / "project" / "ok.py", "changed"));
    release_ = true;

    const auto ended = wait_for_end(second.id);
    EXPECT_EQ(ended.state, RunState::completed);
    EXPECT_EQ(ended.snapshot, stored);
}

TEST_F(WaitingRuns, ACancelledOneNeverBeginsAndTheNextDoes)
{
    const auto first = submit("wait.py");
    const auto second = submit("ok.py");
    const auto third = submit("ok.py");
    wait_for_snapshot(third.id);

    ASSERT_TRUE(engine_->cancel(second.id, 1s));
    EXPECT_EQ(wait_for_end(second.id).state, RunState::canceled);
    release_ = true;

    EXPECT_EQ(wait_for_end(third.id).state, RunState::completed);
    EXPECT_EQ(starts_, 2);
    EXPECT_EQ(wait_for_end(first.id).state, RunState::completed);
    EXPECT_EQ(engine_->waiting_runs(), 0U);
}

TEST_F(WaitingRuns, SentAgainItKeepsItsTurn)
{
    const auto first = submit("wait.py");
    const auto wanted = request("ok.py");
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(engine_->submit(wanted, submitter_));
    EXPECT_EQ(engine_->waiting_runs(), 1U);
    release_ = true;
    EXPECT_EQ(wait_for_end(wanted.id).state, RunState::completed);
    EXPECT_EQ(starts_, 2);
}

TEST_F(WaitingRuns, AfterARestartTheyWaitOnAndAClientBringsItsEnvironmentAgain)
{
    const auto first = submit("wait.py");
    ASSERT_EQ(wait_until(first.id, RunState::running).state, RunState::running);
    const auto wanted = request("ok.py");
    ASSERT_TRUE(engine_->submit(wanted, submitter_));
    wait_for_snapshot(wanted.id);

    engine_.reset();
    start({.runs_per_location = 1, .snapshots = 2});
    ASSERT_TRUE(engine_->recover());
    EXPECT_EQ(engine_->waiting_runs(), 1U);
    ASSERT_TRUE(engine_->submit(wanted, submitter_));
    EXPECT_EQ(engine_->waiting_runs(), 1U);
    release_ = true;

    EXPECT_EQ(wait_for_end(wanted.id).state, RunState::completed);
}

}  // namespace
}  // namespace ponk::engine
