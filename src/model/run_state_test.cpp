// SPDX-License-Identifier: Apache-2.0
#include "model/run_state.hpp"

#include <gtest/gtest.h>

namespace ponk::model {
namespace {

constexpr int count = 10;

RunState state(int i)
{
    return static_cast<RunState>(i);
}

TEST(RunState, WordsReadBack)
{
    for (int i = 0; i < count; ++i)
        EXPECT_EQ(parse_run_state(to_string(state(i))), state(i));
    EXPECT_EQ(parse_run_state("running"), std::nullopt);
}

TEST(RunState, NothingFollowsAnEnd)
{
    for (int from = 0; from < count; ++from) {
        if (!is_terminal(state(from))) continue;
        for (int to = 0; to < count; ++to)
            EXPECT_FALSE(may_follow(state(from), state(to)));
    }
}

TEST(RunState, EveryLivingStateCanFailOrBeCanceled)
{
    for (int from = 0; from < count; ++from) {
        if (is_terminal(state(from))) continue;
        EXPECT_TRUE(may_follow(state(from), RunState::failed));
        EXPECT_TRUE(may_follow(state(from), RunState::canceled));
    }
}

TEST(RunState, OnlyCollectedRunsComplete)
{
    for (int from = 0; from < count; ++from)
        EXPECT_EQ(may_follow(state(from), RunState::completed),
                  state(from) == RunState::finalizing);
}

TEST(RunState, AJobThatWasNeverStartedCannotBeLost)
{
    EXPECT_FALSE(may_follow(RunState::preparing, RunState::lost));
    EXPECT_TRUE(may_follow(RunState::starting, RunState::lost));
    EXPECT_FALSE(check_transition(RunState::queued, RunState::lost));
}

}  // namespace
}  // namespace ponk::model
