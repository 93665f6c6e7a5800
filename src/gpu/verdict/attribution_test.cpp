// SPDX-License-Identifier: Apache-2.0
// Ways in which another's work could be taken for the run's.
#include "gpu/verdict/verdict_test_support.hpp"

namespace ponk::gpu {
namespace {

using namespace by_hand;

DeviceSample with_sm(DeviceSample sample, double sm_activity)
{
    sample.sm_activity = sm_activity;
    return sample;
}

DeviceSample holding(DeviceSample sample, std::uint64_t memory_used)
{
    sample.memory_used = memory_used;
    return sample;
}

// As a driver reports it: a mean over a time that began before.
TEST(Attribution, WorkBeforeTheRunIsNotItsOwnHoweverLongTheDriverSpeaksOfIt)
{
    Watch watch;
    for (int i = 0; i < 40; ++i)
        watch.sample({seen(0.65, {process(own_pid)})}, 250);

    EXPECT_EQ(watch.first().worked_seconds, 0);
    EXPECT_VERDICT(watch, "unknown", "of activity were not counted");

    // Once it was over, what follows is the run's.
    watch.sample({seen(0.0, {process(own_pid)})}, 250);
    for (int i = 0; i < 8; ++i)
        watch.sample({seen(1.0, {process(own_pid)})}, 250);
    EXPECT_DOUBLE_EQ(watch.first().worked_seconds, 2);
}

TEST(Attribution, QuietThatADriverRepeatsFromBeforeIsNotBelieved)
{
    Watch watch;
    watch.sample({seen(0.0)}, 250).sample({seen(0.0)}, 250);  // measured before the work it was
    for (int i = 0; i < 6; ++i)
        watch.sample({seen(0.65, {process(own_pid)})}, 250);

    EXPECT_EQ(watch.first().worked_seconds, 0);
}

TEST(Attribution, SmActivityContradictsUtilisation)
{
    Watch idle;
    idle.samples(3, with_sm(seen(0.0), 0)).samples(10, with_sm(seen(0.65, {process(own_pid)}), 0));
    EXPECT_EQ(idle.first().worked_seconds, 0);
    EXPECT_VERDICT(idle, "idle", "6.5 s of activity were not counted");

    Watch reported;
    reported.samples(3, with_sm(seen(0.0), 0));
    reported.samples(10, with_sm(seen(0.65, {process(own_pid, 0.65)}), 0));
    EXPECT_VERDICT(reported, "idle", "were not counted");

    // One block of one kernel: one processor of 132.
    Watch small;
    small.samples(3, with_sm(seen(0.0), 0));
    small.samples(10, with_sm(seen(1.0, {process(own_pid)}), 1.0 / 132));
    EXPECT_VERDICT(small, "confirmed", "busy 10.0 s of 10.0 s");
}

TEST(Attribution, FiguresThatComeLaterThanTheWorkAreBoundByTheCountersOfThatTime)
{
    Watch watch;
    auto others = process(other_pid);
    watch.samples(4, with_sm(seen(0.0, {others, process(own_pid)}), 0));
    watch.sample({with_sm(seen(0.0, {others, process(own_pid)}), 0.5)}, 500);
    watch.sample({with_sm(seen(0.9, {others, process(own_pid, 0.9)}), 0)}, 500);

    EXPECT_DOUBLE_EQ(watch.first().worked_seconds, 0.45);
}

TEST(Attribution, CountersThatFailForOnceLeaveUtilisationWithoutABound)
{
    Watch watch;
    watch.samples(3, with_sm(seen(0.0), 0)).samples(5, seen(0.65, {process(own_pid)}));

    EXPECT_EQ(watch.first().worked_seconds, 0);
}

// The counters of the first sample began when the run waited in the queue.
TEST(Attribution, CountersThatBeganBeforeTheRunAreNotItsWork)
{
    Watch watch;
    watch.sample({with_sm(seen(0.9, {process(own_pid)}), 0.9)})
        .sample({with_sm(seen(0.0, {process(own_pid)}), 0)});

    EXPECT_EQ(watch.first().worked_seconds, 0);
}

TEST(Attribution, ProcessOfAnotherThatIsGoneByNowWasThere)
{
    DeviceProcess gone{.pid = other_pid, .sm_utilisation = 0.8, .ended = true};
    Watch watch;
    watch.samples(3, with_sm(seen(0.0), 0)).samples(1, with_sm(seen(0.0, {process(own_pid)}), 0));
    for (int i = 0; i < 10; ++i)
        watch.sample({with_sm(seen(0.8, {process(own_pid), gone}), 0.5)});

    EXPECT_EQ(watch.first().worked_seconds, 0);
    EXPECT_TRUE(watch.first().shared);
}

TEST(Attribution, WorkIsTakenBackWhenTheDriverTellsLateWhoseItWas)
{
    DeviceProcess gone{.pid = other_pid, .sm_utilisation = 0.8, .ended = true};
    Watch watch;
    watch.samples(3, with_sm(seen(0.0), 0));
    watch.sample({with_sm(seen(0.0, {process(own_pid)}), 0.5)}, 250);
    EXPECT_GT(watch.first().worked_seconds, 0.1);
    watch.sample({with_sm(seen(0.5, {process(own_pid), gone}), 0)}, 250);

    EXPECT_EQ(watch.first().worked_seconds, 0);
    EXPECT_VERDICT(watch, "idle", "other processes");
}

// Drivers in a container list the processes of the own namespace only.
TEST(Attribution, MemoryThatNoListedProcessHoldsIsSomebodyElses)
{
    Watch watch;
    watch.samples(3, holding(with_sm(seen(0.0), 0), gib / 2));
    const auto alone = holding(with_sm(seen(0.0, {process(own_pid)}), 0), 5 * gib / 2);
    watch.samples(5, alone);
    const auto shared = holding(with_sm(seen(0.9, {process(own_pid)}), 0.9), 9 * gib / 2);
    watch.samples(1, shared);
    EXPECT_EQ(watch.first().worked_seconds, 0);
    watch.samples(9, shared);
    EXPECT_EQ(watch.first().worked_seconds, 0);

    Watch own;
    own.samples(3, holding(with_sm(seen(0.0), 0), gib / 2));
    own.samples(10, holding(with_sm(seen(0.9, {process(own_pid)}), 0.9), 5 * gib / 2));
    EXPECT_VERDICT(own, "confirmed", "busy 9.0 s of 10.0 s");

    // The driver's own part of a large allocation.
    Watch large;
    large.samples(3, holding(with_sm(seen(0.0), 0), gib / 2));
    auto much = process(own_pid);
    much.memory = 100 * gib;
    large.samples(10, holding(with_sm(seen(0.9, {much}), 0.9), 102 * gib));
    EXPECT_VERDICT(large, "confirmed", "busy 9.0 s of 10.0 s");
}

class AttributionByLife : public testing::Test {
protected:
    // The process of this pid began and ended so many milliseconds ago.
    Watch& lives(std::int64_t began, std::optional<std::int64_t> ended = std::nullopt)
    {
        const auto start = watch_.moment() - began;
        const auto end =
            ended ? watch_.moment() - *ended : std::numeric_limits<std::int64_t>::max();
        return watch_.processes_are([=](pid_t) { return ProcessOwner(Whose::own, start, end); });
    }
    static DeviceSample reported(double activity, std::optional<std::int64_t> span_ms)
    {
        auto one = process(own_pid, activity);
        one.sm_span_ms = span_ms;
        return seen(std::nullopt, {one});
    }
    Watch watch_;
};

TEST_F(AttributionByLife, WhatIsToldOfAPidBeforeItsProcessBeganIsOfTheOneBefore)
{
    watch_.samples(2, seen(0.0));
    lives(500).sample({reported(0.9, 2000)}).sample({reported(0.9, 3000)});
    EXPECT_EQ(watch_.first().worked_seconds, 0);
    EXPECT_NEAR(watch_.first().not_counted_seconds, 1.8, 1e-9);

    watch_.sample({reported(0.9, 2000)});
    EXPECT_DOUBLE_EQ(watch_.first().worked_seconds, 0.9);
}

TEST_F(AttributionByLife, WithoutASpanTheLongestIsTaken)
{
    watch_.samples(2, seen(0.0));
    lives(0).sample({reported(0.9, std::nullopt)}).sample({reported(0.9, std::nullopt)});
    EXPECT_EQ(watch_.first().worked_seconds, 0);
    watch_.sample({reported(0.9, std::nullopt)});
    EXPECT_DOUBLE_EQ(watch_.first().worked_seconds, 0.9);
}

TEST_F(AttributionByLife, ProcessThatBeganAfterTheDriverWasAskedIsNotTheOneItMeant)
{
    watch_.samples(2, seen(0.0));
    lives(-1000).sample({with_sm(reported(0.9, 100), 0.9)});
    EXPECT_TRUE(watch_.first().pids.empty());
}

// Drivers report a new process with the work of the one whose place it has.
TEST_F(AttributionByLife, WhatIsToldOfTheTimeBeforeTheProcessWasOnTheDeviceIsOfTheOneBefore)
{
    watch_.samples(2, seen(0.0));
    lives(60'000);  // it began long ago, and opened the device only now
    watch_.sample({reported(0.9, 2000)}).sample({reported(0.9, 2000)});
    EXPECT_EQ(watch_.first().worked_seconds, 0);
    EXPECT_VERDICT(watch_, "unknown", "of activity were not counted");
    watch_.sample({reported(0.0, 2000)});
    EXPECT_EQ(watch_.first().worked_seconds, 0);
}

TEST_F(AttributionByLife, PidOfAProcessThatEndedLongAgoIsSomebodyElses)
{
    watch_.samples(10, seen(0.0));
    const auto start = watch_.moment() - 9000;
    const auto owner = [=, this](std::int64_t ended) {
        watch_.processes_are([start, end = watch_.moment() - ended](pid_t) {
            return ProcessOwner(Whose::own, start, end);
        });
    };
    lives(9000).samples(3, reported(0.0, 1000));
    owner(1000);
    watch_.sample({reported(0.5, 1000)});
    EXPECT_DOUBLE_EQ(watch_.first().worked_seconds, 0.5) << "drivers report late";
    owner(8000);
    watch_.sample({reported(0.5, 1000)});
    EXPECT_DOUBLE_EQ(watch_.first().worked_seconds, 0.5);
}

// Each process of the run is reported on, so the rest is of somebody who came and went.
TEST_F(AttributionByLife, WhatTheDeviceDidBesideItIsAnothers)
{
    watch_.samples(2, with_sm(seen(0.0), 0));
    lives(0).samples(3, with_sm(reported(0.0, 1200), 0));
    auto busy = with_sm(reported(0.0, 1200), 0.9);
    busy.utilisation = 0.9;
    watch_.samples(5, busy);
    auto repeated = with_sm(seen(0.9, {process(own_pid)}), 0.9);
    watch_.sample({repeated}, 200);  // nothing new by process since
    EXPECT_EQ(watch_.first().worked_seconds, 0);
    EXPECT_VERDICT(watch_, "idle", "of activity were not counted");

    // What follows from a driver's silence is no such statement.
    Watch silent;
    silent.samples(3, with_sm(seen(0.0), 0));
    silent.samples(5, with_sm(seen(0.9, {process(own_pid, 0.0)}), 0.9));
    EXPECT_VERDICT(silent, "confirmed", "busy 4.5 s");
}

// One process does the work of all clients, and may be the run's while they are not.
TEST(AttributionByServer, WorkOfAServerIsTheRunsWithItsClientsOnly)
{
    constexpr pid_t server = 150;
    const auto with_server = [](pid_t pid) -> ProcessOwner {
        return pid == server ? Whose::own_server : whose(pid);
    };
    const auto busy = [](std::vector<DeviceProcess> processes) {
        processes.push_back(process(server, 0.9));
        return with_sm(seen(0.9, std::move(processes)), 0.9);
    };
    const auto worked = [&](const DeviceSample& sample) {
        Watch watch;
        watch.processes_are(with_server);
        watch.samples(3, with_sm(seen(0.0), 0)).samples(10, sample);
        return watch.first().worked_seconds;
    };
    EXPECT_DOUBLE_EQ(worked(busy({process(own_pid)})), 9);
    EXPECT_EQ(worked(busy({process(own_pid), process(other_pid)})), 0);
    EXPECT_EQ(worked(busy({process(own_pid), process(unseen_pid)})), 0);
    EXPECT_EQ(worked(busy({})), 0) << "clients that are not listed may be anybody's";
    // A server of somebody else.
    EXPECT_EQ(worked(with_sm(seen(0.9, {process(own_pid), process(other_pid, 0.9)}), 0.9)), 0);
}

// A run that falls back right after another's work still falls back.
TEST(Attribution, TrailOfWorkBeforeTheRunIsNoSignOfAHiddenProcess)
{
    Watch watch;
    for (int i = 0; i < 8; ++i)
        watch.sample({seen(i < 4 ? 0.65 : 0.0)}, 250);

    EXPECT_VERDICT(watch, "cpu-fallback", "no process of the run was seen");
}

TEST(Attribution, MemoryInUseBeforeTheRunIsNotUnseenWork)
{
    EvidenceCollector collector({device("GPU-1")});
    collector.begin({.time = 0, .devices = {holding(seen(0.0), gib)}});
    for (int i = 0; i < 5; ++i)
        collector.add({.time = 0, .devices = {holding(seen(0.0), 3 * gib)}}, whose, i * 1000);

    EXPECT_EQ(collector.evidence().devices[0].unattributed_memory, 2 * gib);
    EXPECT_EQ(collector.evidence().samples, 5);
}

}  // namespace
}  // namespace ponk::gpu
