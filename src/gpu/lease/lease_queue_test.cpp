// SPDX-License-Identifier: Apache-2.0
#include "gpu/lease/lease_test_support.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace ponk::gpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LeaseQueue : public Leases {};

INSTANTIATE_TEST_SUITE_P(Places,
                         LeaseQueue,
                         testing::Values("/dev/shm", "/var/tmp"),
                         [](const auto& place_info) {
                             return std::string(place_info.param) == "/dev/shm" ? "memory" : "disk";
                         });

TEST_P(LeaseQueue, AreServedInTheOrderOfComing)
{
    auto held = take_now("all", "long");
    auto first = folder.queue(selection("all"), owner("first")).value();
    auto second = folder.queue(selection("1"), owner("second")).value();
    EXPECT_LT(first.number(), second.number());
    EXPECT_EQ(take(second).waiting->position, 2U);
    ASSERT_EQ(take(second).waiting->ahead.size(), 1U);
    EXPECT_EQ(take(second).waiting->ahead[0].run, "first");

    held.leases.erase(held.leases.begin());
    EXPECT_TRUE(take(second).waiting) << "one is free, but it is the other's turn";
    EXPECT_TRUE(take(first).waiting);

    held = {};
    EXPECT_TRUE(take(second).waiting);
    const auto got = take(first);
    EXPECT_EQ(got.leases.size(), 3U);
    const auto gone = std::move(first);
    EXPECT_TRUE(take(second).waiting);
}

TEST_P(LeaseQueue, WhoLeavesTheQueueHoldsNobodyUp)
{
    auto held = take_now("GPU-0", "long");
    auto first = std::optional(folder.queue(selection("all"), owner("first")).value());
    const auto second = folder.queue(selection("1"), owner("second")).value();
    EXPECT_TRUE(take(*first).waiting);
    EXPECT_TRUE(take(second).waiting);

    first.reset();

    EXPECT_THAT(uuids(take(second)), ElementsAre("GPU-1"));
    EXPECT_EQ(tickets(), 1U);
}

TEST_P(LeaseQueue, OneMayPassThoseWhoCannotWantWhatItTakes)
{
    const auto held = take_now("GPU-0", "long");
    const auto first = folder.queue(selection("GPU-0"), owner("first")).value();
    const auto other = folder.queue(selection("GPU-0,GPU-1"), owner("other")).value();
    EXPECT_TRUE(take(first).waiting);
    EXPECT_TRUE(take(other).waiting);

    const auto named = take_now("GPU-2", "named");
    EXPECT_THAT(uuids(named), ElementsAre("GPU-2"));
    // GPU-1 is free, but the one before could take it.
    const auto any = folder.queue(selection("2"), owner("any")).value();
    EXPECT_EQ(take(any).waiting->position, 3U) << "the third that could take GPU-0 or GPU-1";
    EXPECT_THAT(uuids(take_now("GPU-1")), IsEmpty());
    const auto behind = folder.queue(selection("GPU-2"), owner("behind")).value();
    EXPECT_EQ(take(behind).waiting->position, 2U) << "'any' could take GPU-2";
}

TEST_P(LeaseQueue, StoppedProcessLosesItsTurnUntilItGoesOn)
{
    std::optional<Ticket> waiter;
    OtherProcess stopped([&] {
        waiter =
            folder.queue(selection("all"), {.user = "bob", .run = "s", .pid = ::getpid()}).value();
        return true;
    });
    const auto ticket = folder.queue(selection("1"), owner("me")).value();
    EXPECT_TRUE(take(ticket).waiting);

    stopped.signal(SIGSTOP);
    ::waitpid(stopped.pid(), nullptr, WUNTRACED);
    const auto later = folder.queue(selection("1"), owner("later")).value();
    EXPECT_EQ(take(later).waiting->position, 2U);

    stopped.signal(SIGCONT);
    ::waitpid(stopped.pid(), nullptr, WCONTINUED);
    const auto last = folder.queue(selection("1"), owner("last")).value();
    EXPECT_EQ(take(last).waiting->position, 4U);
}

TEST_P(LeaseQueue, OneWhoWaitsAsksOnlyAfterTheOneBefore)
{
    const auto held = take_now("all");
    std::optional first = folder.queue(selection("all"), owner("first")).value();
    const auto second = folder.queue(selection("1"), owner("second")).value();
    EXPECT_EQ(take(second).waiting->position, 2U);

    // With the folder away nothing but the open ticket of the first can be asked.
    const auto away = place / "away";
    ASSERT_EQ(::rename(folder.path().c_str(), away.c_str()), 0);
    EXPECT_EQ(take(second).waiting->position, 2U);
    ASSERT_EQ(::rename(away.c_str(), folder.path().c_str()), 0);
    first.reset();
    EXPECT_EQ(take(second).waiting->position, 1U);
}

TEST_P(LeaseQueue, NobodyUsesUpTheNumbersOrSpoilsTheirGiving)
{
    for (const char* name : {"ticket-999999999999999999", "ticket-000000002000000000"})
        ASSERT_TRUE(os::publish_file(folder.path() / name, "", 0666));
    ASSERT_EQ(::mkdir((folder.path() / "queue").c_str(), 0700), 0);
    const auto first = folder.queue(selection("all"), owner("a")).value();
    EXPECT_EQ(first.number(), 1U);
    EXPECT_EQ(folder.queue(selection("all"), owner("b")).value().number(), 2U);
    EXPECT_EQ(take(first, "a").leases.size(), 3U);
}

TEST_P(LeaseQueue, WhoWaitsNeedsTheEndOfARunOnlyWhenOthersWillNotDo)
{
    const auto parent = take_now("GPU-0", "parent");
    const auto other = take_now("GPU-1", "other");
    const auto needs = [&](const Ticket& ticket, const char* run) {
        return folder.needs_end_of(run, ticket, all).value();
    };
    const auto two = folder.queue(selection("2"), owner("child")).value();
    EXPECT_FALSE(needs(two, "parent")) << "the other one ends some day";
    EXPECT_FALSE(needs(two, "nobody"));
    EXPECT_TRUE(needs(folder.queue(selection("3"), owner("child")).value(), "parent"));
    EXPECT_TRUE(needs(folder.queue(selection("GPU-0"), owner("child")).value(), "parent"));
    EXPECT_FALSE(needs(folder.queue(selection("GPU-1"), owner("child")).value(), "parent"));
}

TEST_P(LeaseQueue, WhoWaitsBehindOneThatNeedsTheEndOfARunNeedsItToo)
{
    const auto parent = take_now("GPU-0", "parent");
    const auto few = folder.queue(selection("2"), owner("few")).value();
    const auto child = folder.queue(selection("GPU-2"), owner("child")).value();
    EXPECT_FALSE(folder.needs_end_of("parent", child, all).value())
        << "both of the others are free";
    const auto many = folder.queue(selection("GPU-0,GPU-1"), owner("many")).value();
    const auto beside = folder.queue(selection("GPU-2"), owner("child")).value();
    const auto behind = folder.queue(selection("GPU-1"), owner("child")).value();
    EXPECT_FALSE(folder.needs_end_of("parent", beside, all).value());
    EXPECT_TRUE(folder.needs_end_of("parent", behind, all).value());
    const auto next = folder.queue(selection("GPU-1,GPU-2"), owner("next")).value();
    const auto last = folder.queue(selection("GPU-2"), owner("child")).value();
    EXPECT_TRUE(folder.needs_end_of("parent", last, all).value()) << "'next' waits for 'many'";
}

TEST_P(LeaseQueue, TicketsMove)
{
    auto first = folder.queue(selection("1"), owner("a")).value();
    const auto number = first.number();
    auto moved = std::move(first);
    EXPECT_EQ(moved.number(), number);
    EXPECT_EQ(tickets(), 1U);
    moved = folder.queue(selection("1"), owner("b")).value();
    EXPECT_EQ(tickets(), 1U);
    EXPECT_EQ(folder.waiting().value()[0].first.run, "b");
}

TEST(LeaseFolder, OneFarBehindIsAskedSeldom)
{
    EXPECT_LT(pause_of({.position = 1, .ahead = {}, .reasons = {}}),
              pause_of({.position = 9, .ahead = {}, .reasons = {}}));
    EXPECT_LE(pause_of({.position = 100'000, .ahead = {}, .reasons = {}}),
              std::chrono::seconds(10));
}

}  // namespace
}  // namespace ponk::gpu
