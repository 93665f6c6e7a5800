// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "executor/local/local_test_support.hpp"
#include "os/directory.hpp"

#include <csignal>
#include <random>
#include <thread>

namespace ponk::executor {
namespace {

using namespace std::chrono_literals;

// For supervisors that were killed.
class StandIn : public LocalExecutor {};

INSTANTIATE_TEST_SUITE_P(Here,
                         StandIn,
                         testing::Values(ContractTarget{"local", make_local}),
                         testing::PrintToStringParamName());

TEST_P(StandIn, StandsInForAKilledSupervisor)
{
    const auto job = make_job("slow");
    start(job);
    kill_supervisors(job);

    const auto status = follow(job);

    EXPECT_EQ(status.exit->status(), 9);
    EXPECT_EQ(status.exit->by, "daemon");
    EXPECT_EQ(log_of(job), "a\nb\n");
    EXPECT_EQ(status.exit->log_sha256, sha256("a\nb\n").text());
}

TEST_P(StandIn, TheCodeOfAStrangerIsLearnedFromTheKernel)
{
    const auto job = make_job("slow");
    start_elsewhere(job);
    processes(job);
    follow(job, JobPhase::running);
    kill_supervisors(job);

    const auto deadline = after(10s);
    JobStatus status{.phase = JobPhase::running};
    while (status.phase == JobPhase::running && Deadline::clock::now() < deadline)
        status =
            target_.executor->sync(job.spec.id.text(), job.context.directory, status, deadline, {})
                .value();

    EXPECT_EQ(log_of(job), "a\nb\n");
    if (status.phase == JobPhase::lost) {  // kernels before 6.15 do not tell it
        EXPECT_FALSE(status.exit);
        EXPECT_NE(status.reason.find("cannot be known"), std::string::npos) << status.reason;
        return;
    }
    ASSERT_TRUE(status.exit);
    EXPECT_EQ(status.exit->status(), 9);
    EXPECT_EQ(status.exit->by, "daemon");
}

TEST_P(StandIn, ACodeNobodySawIsNeverGuessed)
{
    const auto job = make_job("slow");
    start_elsewhere(job);
    kill_supervisors(job);
    while (os::identify(processes(job).main.pid) == processes(job).main)
        std::this_thread::sleep_for(1ms);

    const auto status = follow(job, JobPhase::lost);

    EXPECT_FALSE(status.exit);
    EXPECT_NE(status.reason.find("cannot be known"), std::string::npos);
    EXPECT_EQ(log_of(job), "a\nb\n");
}

TEST_P(StandIn, CancelAndOrphansWorkWithoutASupervisor)
{
    const auto waiting = make_job("wait");
    const auto orphan = make_job("orphan");
    start(waiting);
    start(orphan);
    kill_supervisors(waiting);
    kill_supervisors(orphan);

    EXPECT_TRUE(target_.executor->cancel(waiting.spec.id.text(), waiting.context.directory, 1s));

    const auto status = follow(waiting);
    EXPECT_EQ(status.exit->cause, "cancel");
    EXPECT_EQ(status.exit->status(), 128 + SIGTERM);
    const auto other = follow(orphan);
    EXPECT_EQ(other.exit->status(), 5);
    EXPECT_GE(other.exit->survivors, 1);
    const auto pid =
        parse_integer(trim(os::read_file(orphan.context.directory.root() / "orphan").value()));
    EXPECT_FALSE(
        os::read_file(fmt::format("/proc/{}/cmdline", *pid)).value_or("").starts_with("sleep"));
}

TEST_P(StandIn, KilledAtRandomMomentsTheRunStillTellsItsTruth)
{
    std::mt19937 random(11);
    for (int turn = 0; turn < 4; ++turn) {
        const auto job = make_job("slow");
        start(job);
        std::jthread killer([&, pause = random() % 120, which = random() % 3] {
            std::this_thread::sleep_for(std::chrono::milliseconds(pause));
            const auto found = processes(job);
            if (which != 0) end_process(found.guard.pid);
            if (which != 1) end_process(found.stub.pid);
        });

        const auto status = follow(job);

        EXPECT_EQ(status.exit->status(), 9);
        EXPECT_EQ(log_of(job), "a\nb\n");
        EXPECT_EQ(status.exit->log_length, 4U);
    }
}

}  // namespace
}  // namespace ponk::executor
