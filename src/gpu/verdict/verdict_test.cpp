// SPDX-License-Identifier: Apache-2.0
#include "gpu/verdict/verdict_test_support.hpp"

namespace ponk::gpu {
namespace {

using namespace by_hand;
using testing::HasSubstr;
using testing::Not;

TEST(Verdict, WordsSurviveTheirText)
{
    for (const auto verdict : {Verdict::confirmed,
                               Verdict::idle,
                               Verdict::cpu_fallback,
                               Verdict::lost,
                               Verdict::unknown,
                               Verdict::not_requested})
        EXPECT_EQ(parse_verdict(to_string(verdict)), verdict);
    EXPECT_FALSE(parse_verdict("passed"));
}

TEST(Verdict, WorkOfTheRunsOwnProcessIsConfirmedWithItsFigures)
{
    Watch watch;
    watch.samples(3, seen(0.0)).samples(10, seen(0.9, {process(own_pid)}));

    EXPECT_VERDICT(
        watch, "confirmed", "held 2.0 GiB on 'NVIDIA H200', busy 9.0 s of 10.0 s (90 %)");
    EXPECT_EQ(watch.first().activity_from, "utilisation");
    EXPECT_EQ(watch.first().pids, std::vector<pid_t>{own_pid});
}

TEST(Verdict, SmallKernelsCountAsWorkAndTheirShareOfTheProcessorsIsTold)
{
    auto sample = seen(0.8, {process(own_pid)});
    sample.sm_activity = 0.004;
    Watch watch;
    watch.samples(3, seen(0.0)).samples(20, sample);

    EXPECT_VERDICT(watch, "confirmed", "(80 %); SM activity 0.4 %");
}

TEST(Verdict, LongRunWithLittleShareIsConfirmedByItsSeconds)
{
    Watch watch;
    watch.samples(3, seen(0.0)).samples(1000, seen(0.006, {process(own_pid)}));

    EXPECT_VERDICT(watch, "confirmed", "busy 6.0 s of 1000.0 s (0.6 %)");
}

TEST(Verdict, AllocatingAndWaitingIsIdle)
{
    Watch watch;
    watch.samples(3, seen(0.0)).samples(1, seen(0.2, {process(own_pid)}));
    watch.samples(60, seen(0.0, {process(own_pid)}));

    EXPECT_VERDICT(watch, "idle", "hardly active: busy 0.20 s of 61.0 s (0.3 %)");
}

TEST(Verdict, NobodyOnTheDeviceIsAFallbackWithWhatWasFound)
{
    Watch watch;
    watch.samples(30, seen(0.0));

    EXPECT_VERDICT(watch,
                   "cpu-fallback",
                   "no process of the run was seen on 'NVIDIA H200' in 30 samples over 29.0 s");
    auto evidence = watch.evidence();
    evidence.findings = {"PyTorch is built for the CPU only"};
    EXPECT_THAT(judge(evidence).reason, HasSubstr("probable reason: PyTorch is built for the CPU"));

    Watch brief;
    brief.samples(1, seen(0.0));
    evidence = brief.evidence();
    evidence.findings = {"PyTorch is built for the CPU only"};
    EXPECT_EQ(judge(evidence).verdict, Verdict::unknown);
    EXPECT_THAT(judge(evidence).reason, Not(HasSubstr("PyTorch"))) << "no fall-back was seen";
}

TEST(Verdict, WorkOfOthersIsNeverTheRuns)
{
    Watch absent;
    absent.samples(30, seen(1.0, {process(other_pid, 1.0)}));
    EXPECT_VERDICT(absent, "cpu-fallback", "other processes were on 'NVIDIA H200' too");

    Watch idle;
    idle.samples(30, seen(1.0, {process(other_pid, 1.0), process(own_pid, 0.0)}));
    EXPECT_VERDICT(idle, "idle", "other processes");

    Watch untold;
    untold.samples(30, seen(1.0, {process(other_pid), process(own_pid)}));
    EXPECT_VERDICT(untold, "unknown", "does not report which of them was active");

    Watch worked;
    worked.samples(30, seen(1.0, {process(other_pid, 0.5), process(own_pid, 0.5)}));
    EXPECT_VERDICT(worked, "confirmed", "busy 14.0 s of 28.0 s");
    EXPECT_EQ(worked.first().activity_from, "process");
    EXPECT_TRUE(worked.first().shared);
}

TEST(Verdict, TrailOfSomeoneWhoJustLeftIsNotTheRuns)
{
    Watch watch;
    for (int i = 0; i < 10; ++i)
        watch.samples(1, seen(1.0, {process(other_pid)})).samples(1, seen(1.0, {process(own_pid)}));

    EXPECT_EQ(watch.first().worked_seconds, 0);
    EXPECT_VERDICT(watch, "unknown", "");
}

TEST(Verdict, WorkThatTheDriverHidesIsUnknownNotAFallback)
{
    Watch busy;
    busy.samples(30, seen(0.7));
    EXPECT_VERDICT(busy, "unknown", "did not report which processes");

    Watch holding;
    auto empty = seen(0.0);
    empty.memory_used = gib / 2;
    auto full = empty;
    full.memory_used = 3 * gib;
    holding.samples(1, empty).samples(5, full);
    EXPECT_VERDICT(holding, "unknown", "2.5 GiB more in use");
}

TEST(Verdict, ProcessesThatAreNotSeenHereMayBeTheRuns)
{
    Watch hidden;
    hidden.samples(30, seen(0.7, {process(unseen_pid)}));
    EXPECT_VERDICT(hidden, "unknown", "busy 19.6 s and had 2.0 GiB more in use");
    EXPECT_FALSE(hidden.first().shared);

    Watch waiting;
    waiting.samples(30, seen(0.0, {process(unseen_pid)}));
    EXPECT_VERDICT(waiting, "unknown", "did not report which processes");

    Watch beside;
    beside.samples(30, seen(1.0, {process(unseen_pid, 0.9), process(own_pid, 0.0)}));
    EXPECT_VERDICT(beside, "idle", "");

    Watch after;
    after.samples(1, seen(0.9, {process(unseen_pid)})).samples(3, seen(0.0));
    after.samples(9, seen(0.9, {process(own_pid)}));
    EXPECT_VERDICT(after, "confirmed", "busy 8.1 s of 9.0 s");
}

TEST(Verdict, ActivityThatIsNotToldIsUnknownNotIdle)
{
    Watch watch;
    watch.samples(30, seen(std::nullopt, {process(own_pid)}));

    EXPECT_VERDICT(watch, "unknown", "does not report their activity");
}

TEST(Verdict, ShortRunsAreNotGuessed)
{
    EXPECT_VERDICT(Watch(), "unknown", "0 samples");
    EXPECT_VERDICT(Watch().samples(1, seen(0.0)), "unknown", "1 sample over");
    EXPECT_VERDICT(Watch().samples(1, seen(0.9, {process(own_pid)})), "unknown", "seen only once");
    EXPECT_VERDICT(
        Watch().samples(1, seen(0.0)).sample({seen(0.0)}, 300), "unknown", "over 0.30 s");
    auto quick = seen(0.5, {process(own_pid)});
    EXPECT_VERDICT(Watch().samples(1, seen(0.0)).sample({quick}, 400),
                   "unknown",
                   "0.20 s of activity were not counted");
    quick.sm_activity = 0.5;
    EXPECT_VERDICT(
        Watch().samples(1, seen(0.0)).sample({quick}, 400), "confirmed", "busy 0.20 s of 0.40 s");
}

TEST(Verdict, ProcessThatIsGoneCountsByWhatTheDriverTellsOfItAfterwards)
{
    DeviceProcess gone{.pid = own_pid, .sm_utilisation = 0.6, .sm_span_ms = 2000, .ended = true};
    Watch watch;
    watch.samples(1, seen(0.0)).samples(2, seen(std::nullopt, {process(own_pid)}));
    watch.samples(1, seen(0.0, {gone})).samples(2, seen(0.0));

    EXPECT_VERDICT(watch, "confirmed", "on 'NVIDIA H200', busy 0.60 s of 1.0 s");
}

TEST(Verdict, DriverThatCannotBeAskedIsUnknown)
{
    EXPECT_VERDICT(Watch().failures(5), "unknown", "nothing could be measured: the driver hangs");
    EXPECT_VERDICT(Watch().samples(4, seen(0.0)).failures(9), "unknown", "only 4 of 13 times");
    EXPECT_VERDICT(
        Watch().samples(3, seen(0.0)).samples(3, seen(1.0, {process(own_pid)})).failures(9),
        "confirmed",
        "busy 3.0 s");
}

TEST(Verdict, DeviceThatVanishesIsLostWhateverWasDoneBefore)
{
    Watch told;
    auto gone = seen(std::nullopt);
    gone.lost = "GPU is lost";
    told.samples(3, seen(0.0)).samples(8, seen(1.0, {process(own_pid)})).samples(1, gone);
    EXPECT_VERDICT(told,
                   "lost",
                   "was lost during the run: GPU is lost; until then processes of the run held 2.0 "
                   "GiB, busy 8.0 s");

    Watch event;
    auto fallen = seen(0.0);
    fallen.xids = {31, 79};
    event.samples(3, seen(0.0)).samples(1, fallen);
    EXPECT_VERDICT(event, "lost", "fallen off the bus (Xid 79); no process of the run");
    EXPECT_EQ(event.first().xids, (std::vector<int>{31, 79}));

    Watch unlisted;
    unlisted.samples(3, seen(0.0)).sample({}).sample({});
    EXPECT_VERDICT(unlisted, "cpu-fallback", "");
    unlisted.sample({});
    EXPECT_VERDICT(unlisted, "lost", "no longer lists it");
}

TEST(Verdict, EventsThatAreTheScriptsOwnFaultAreNoLoss)
{
    auto fault = seen(0.9, {process(own_pid)});
    fault.xids = {31};
    Watch watch;
    watch.samples(3, seen(0.0)).samples(5, fault);

    EXPECT_VERDICT(watch, "confirmed", "");
    EXPECT_EQ(watch.first().xids, std::vector<int>{31});
}

TEST(Verdict, DeviceThatIsMissingForAMomentIsMeasuredOnAfterwards)
{
    Watch watch;
    auto busy = seen(1.0, {process(own_pid)});
    busy.sm_activity = 1.0;
    watch.samples(3, seen(0.0)).samples(2, busy).sample({}).samples(2, busy);

    EXPECT_DOUBLE_EQ(watch.first().worked_seconds, 3) << "who was there meanwhile is not known";
    EXPECT_EQ(watch.first().samples, 7);
    EXPECT_VERDICT(watch, "confirmed", "");
}

TEST(Verdict, DevicesThatStayedUnusedAreNamed)
{
    Watch watch({"GPU-1", "GPU-2", "GPU-3"});
    for (int i = 0; i < 3; ++i)
        watch.sample({seen(0.0), on("GPU-2", seen(0.0)), on("GPU-3", seen(0.0))});
    for (int i = 0; i < 10; ++i)
        watch.sample({seen(1.0, {process(own_pid)}),
                      on("GPU-2", seen(0.0, {process(own_pid)})),
                      on("GPU-3", seen(0.0))});

    EXPECT_VERDICT(watch, "confirmed", "on 2 of 3 GPUs, busy 10.0 s of 20.0 s (50 %)");
    EXPECT_THAT(watch.judged().reason, HasSubstr("held but hardly used: GPU 1 'NVIDIA H200'"));
    EXPECT_THAT(watch.judged().reason, HasSubstr("unused: GPU 2 'NVIDIA H200'"));
}

TEST(Verdict, DeviceThatWasNeverToldOfForbidsToSpeakOfAFallback)
{
    Watch watch({"GPU-1", "GPU-2"});
    for (int i = 0; i < 9; ++i)
        watch.sample({seen(0.0)});

    EXPECT_VERDICT(watch, "unknown", "reported nothing about GPU 1");
}

TEST(Verdict, ClocksAndCountersThatJumpAddNothing)
{
    Watch watch;
    watch.samples(3, seen(0.0));
    auto sample = seen(1.0, {process(own_pid)});
    for (const double energy : {1000.0, 1500.0, 100.0, 300.0}) {
        sample.energy_joules = energy;
        watch.sample({sample});
    }
    EXPECT_DOUBLE_EQ(*watch.first().energy_joules, 700);
    watch.sample({sample}, -50'000);
    EXPECT_DOUBLE_EQ(watch.first().worked_seconds, 4);
    watch.sample({sample}, 8 * 3'600'000);  // slept overnight
    EXPECT_LE(watch.first().worked_seconds, 21);
    EXPECT_LE(watch.evidence().seconds, 21);
}

TEST(Verdict, ValuesOutOfTheirRangeAreHeldToIt)
{
    Watch watch;
    watch.samples(3, seen(0.0)).samples(2, seen(40.0, {process(own_pid, -3.0)}));
    EXPECT_DOUBLE_EQ(watch.first().worked_seconds, 2);
    watch.samples(1, seen(std::numeric_limits<double>::quiet_NaN(), {process(own_pid)}));
    EXPECT_DOUBLE_EQ(watch.first().worked_seconds, 2);
    EXPECT_DOUBLE_EQ(watch.first().measured_seconds, 2);
}

TEST(Verdict, WhatKeepsTheDeviceAfterTheEndIsTold)
{
    Watch watch;
    watch.samples(5, seen(1.0, {process(own_pid)}));
    auto evidence = watch.evidence();
    evidence.remains = "process 100 still holds 2 GiB of it";

    EXPECT_THAT(judge(evidence).reason, HasSubstr("; process 100 still holds"));
}

TEST(Verdict, EvidenceSurvivesTheTripThroughJson)
{
    Watch watch({"GPU-1", "GPU-2"});
    auto sample = seen(0.5, {process(own_pid, 0.25)});
    sample.sm_activity = 0.1;
    sample.energy_joules = 9;
    sample.xids = {13};
    auto hidden = on("GPU-2", seen(0.4));
    watch.sample({sample, hidden}).sample({sample, hidden}).failures(1);
    auto evidence = watch.evidence();
    evidence.findings = {"one"};
    evidence.remains = "two";
    evidence.unmeasured = "three";
    evidence.devices[1].lost = "four";

    const auto again = evidence_from(to_json(evidence));

    ASSERT_TRUE(again);
    EXPECT_EQ(to_json(*again), to_json(evidence));
    EXPECT_EQ(judge(*again).reason, judge(evidence).reason);
    EXPECT_FALSE(evidence_from(Json("text")));
}

}  // namespace
}  // namespace ponk::gpu
