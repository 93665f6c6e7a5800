// SPDX-License-Identifier: Apache-2.0
#include "engine/queue/run_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::engine {
namespace {

const std::string here;
const std::string there = "ann@host:22";

WaitingRun with_snapshot(const RunId& id)
{
    return {.id = id, .submitter = nullptr, .has_snapshot = true};
}

TEST(RunQueue, RunsBeginAtOnceUntilTheirLocationIsFull)
{
    RunQueue queue({.runs_per_location = 2});
    const auto first = RunId::make();
    EXPECT_TRUE(queue.try_begin(here, first));
    EXPECT_TRUE(queue.try_begin(here, RunId::make()));
    EXPECT_FALSE(queue.try_begin(here, RunId::make()));
    EXPECT_TRUE(queue.try_begin(there, RunId::make()));

    queue.end(first);
    EXPECT_TRUE(queue.try_begin(here, RunId::make()));
}

TEST(RunQueue, TheOneThatWaitedLongestIsNext)
{
    RunQueue queue({.runs_per_location = 1});
    const auto active = RunId::make();
    const auto first = RunId::make();
    const auto second = RunId::make();
    ASSERT_TRUE(queue.try_begin(here, active));
    EXPECT_EQ(queue.add(here, with_snapshot(first)), 1U);
    EXPECT_EQ(queue.add(here, with_snapshot(second)), 2U);
    EXPECT_FALSE(queue.admit());

    queue.end(active);
    // Nobody overtakes those that wait.
    EXPECT_FALSE(queue.try_begin(here, RunId::make()));
    EXPECT_EQ(queue.admit()->id, first);
    EXPECT_FALSE(queue.admit());
    queue.end(first);
    EXPECT_EQ(queue.admit()->id, second);
    EXPECT_EQ(queue.waiting(), 0U);
}

TEST(RunQueue, AFullLocationDoesNotHoldUpAnother)
{
    RunQueue queue({.runs_per_location = 1});
    ASSERT_TRUE(queue.try_begin(here, RunId::make()));
    const auto active = RunId::make();
    ASSERT_TRUE(queue.try_begin(there, active));
    queue.add(here, with_snapshot(RunId::make()));
    const auto next = RunId::make();
    queue.add(there, with_snapshot(next));

    queue.end(active);
    EXPECT_EQ(queue.admit()->id, next);
}

TEST(RunQueue, SnapshotsAreTakenAFewAtATimeAndARunBeginsAfterItsOwn)
{
    RunQueue queue({.runs_per_location = 1, .snapshots = 2});
    const auto active = RunId::make();
    ASSERT_TRUE(queue.try_begin(here, active));
    std::vector<RunId> ids;
    for (int i = 0; i < 3; ++i) {
        ids.push_back(RunId::make());
        queue.add(here, {.id = ids.back(), .submitter = nullptr});
    }
    EXPECT_EQ(queue.next_snapshot()->id, ids[0]);
    EXPECT_EQ(queue.next_snapshot()->id, ids[1]);
    EXPECT_FALSE(queue.next_snapshot());

    queue.end(active);
    EXPECT_FALSE(queue.admit());
    queue.stored(ids[0]);
    EXPECT_EQ(queue.next_snapshot()->id, ids[2]);
    const auto begun = queue.admit();
    ASSERT_TRUE(begun);
    EXPECT_EQ(begun->id, ids[0]);
    EXPECT_TRUE(begun->has_snapshot);
}

TEST(RunQueue, OneThatIsRemovedNeitherBeginsNorMovesTheOthersSnapshots)
{
    RunQueue queue({.runs_per_location = 1, .snapshots = 1});
    const auto active = RunId::make();
    ASSERT_TRUE(queue.try_begin(here, active));
    std::vector<RunId> ids;
    for (int i = 0; i < 3; ++i) {
        ids.push_back(RunId::make());
        queue.add(here, {.id = ids.back(), .submitter = nullptr});
    }
    ASSERT_EQ(queue.next_snapshot()->id, ids[0]);
    queue.stored(ids[0]);
    EXPECT_TRUE(queue.remove(ids[0]));
    EXPECT_FALSE(queue.remove(ids[0]));

    EXPECT_EQ(queue.next_snapshot()->id, ids[1]);
    queue.stored(ids[1]);
    queue.end(active);
    EXPECT_EQ(queue.admit()->id, ids[1]);
}

TEST(RunQueue, ContextsThatAreEqualAreKeptOnce)
{
    Submitters contexts;
    const auto one = contexts.keep({.environment = {"A=1"}, .umask = 022});
    EXPECT_EQ(contexts.keep({.environment = {"A=1"}, .umask = 022}), one);
    EXPECT_NE(contexts.keep({.environment = {"A=2"}, .umask = 022}), one);
    EXPECT_NE(contexts.keep({.environment = {"A=1"}, .umask = 077}), one);
}

TEST(RunQueue, TheLimitComesFromTheEnvironment)
{
    EXPECT_EQ(queue_rules({"PONK_MAX_RUNS=3"}).runs_per_location, 3U);
    for (const char* wrong : {"PONK_MAX_RUNS=0", "PONK_MAX_RUNS=x", "PONK_MAX_RUNS=-1", "A=1"})
        EXPECT_EQ(queue_rules({wrong}).runs_per_location, QueueRules().runs_per_location) << wrong;
}

}  // namespace
}  // namespace ponk::engine
